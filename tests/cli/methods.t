The list of methods.

  $ huddle methods | grep -E '^(kmeans|sc|ssc) '
  kmeans      K-means
  sc          spectral clustering
  ssc         spectral shrunk clustering (default)
  $ huddle methods --json | /usr/bin/python3 -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > print(r["default"], {"kmeans", "sc", "ssc"} <= {m["name"] for m in r["methods"]})'
  ssc True
  $ huddle options kmeans
  kmeans: K-means
  
    -c, --n-clusters N        number of clusters; auto: chosen by the eigengap or, if none
                              is clear and labels are refined, by modularity; auto, integer
                              >= 1, or range such as 2-20 [auto]
        --seed N              seed of the random numbers; integer >= 0 [0]
        --prepare NAME        transformation of the points before distances are computed;
                              auto|none|standard|clip|ranks|unit|center-rows|center-columns|
                              pca:R|whiten:R [none]
        --n-init N            number of restarts; the best one is kept; integer >= 1 [50]
        --max-iter N          maximum number of iterations of a restart; integer >= 1 [300]
        --tol NUMBER          stop when the sum of squared centre shifts is less than this
                              fraction of the variance; number >= 0 [1e-4]
        --init NAME           how the initial centres are chosen; k-means++|sample
                              [k-means++]
        --full-restarts BOOL  every restart uses all rows; otherwise, with 65536 rows or
                              more, restarts run on a sample and the best continue on all
                              rows; true|false [false]

Options as JSON contain the values they accept.

  $ huddle options kmeans --json | /usr/bin/python3 -c '
  > import json, sys
  > r = json.load(sys.stdin)
  > for o in r["options"]:
  >     print(o["name"], o["type"], o["default"], o.get("min"), o.get("max"), o.get("choices"))'
  n_clusters range auto 1 None None
  seed seed 0 None None None
  prepare rule none None None ['auto', 'none', 'standard', 'clip', 'ranks', 'unit', 'center-rows', 'center-columns', 'pca:R', 'whiten:R']
  n_init int 50 1 None None
  max_iter int 300 1 None None
  tol real 0.0001 0.0 None None
  init choice k-means++ None None ['k-means++', 'sample']
  full_restarts bool False None None None

The pages in docs/ are up to date.

  $ docs="$TESTDIR/../../docs"
  $ huddle options --markdown | diff "$docs/options.md" -
  $ huddle help --markdown | diff "$docs/cli.md" -

The manual page is clean roff, the completions clean shell.

  $ huddle man > huddle.1
  $ if command -v groff > /dev/null; then groff -man -Tutf8 -ww -z huddle.1; fi
  $ huddle completion bash > huddle.bash
  $ bash -n huddle.bash
  $ bash -c '. ./huddle.bash; COMP_WORDS=(huddle cl); COMP_CWORD=1; _huddle; echo "${COMPREPLY[@]}"'
  cluster
  $ bash -c '. ./huddle.bash; COMP_WORDS=(huddle cluster --shrink-sc); COMP_CWORD=2; _huddle; echo "${COMPREPLY[@]}"'
  --shrink-scale
  $ bash -c '. ./huddle.bash; COMP_WORDS=(huddle cluster -m ss); COMP_CWORD=3; _huddle; echo "${COMPREPLY[@]}"'
  ssc
  $ huddle completion zsh > _huddle
  $ if command -v zsh > /dev/null; then zsh -n _huddle; fi
  $ huddle completion fish > huddle.fish
  $ if command -v fish > /dev/null; then fish -n huddle.fish; fi
  $ huddle completion tcsh
  huddle: no shell named 'tcsh'; choose bash, zsh or fish
  [2]
