A folder with stand-ins for two of the published data sets, in two formats.

  $ mkdir data
  $ huddle generate blobs --n 90 --noise 2 -q -o data/ORL.csv
  $ huddle convert digits data/UMIST_28x23.mat --classes 0-2 --per-class 25 -q
  $ cp data/ORL.csv data/orl_copy.csv
  $ echo 'not data' > data/archive.csv
  $ echo 'about the data' > data/ORL.md
  $ huddle paper data -o out --n-init 3 --seeds 2 -q > table
  $ grep -vE '^  |cells' table
  Table 1, ACC                  ORL                      UMIST                  
  
  Table 2, NMI                  ORL                      UMIST                  
  
  In per cent: (a) to the letter and (b) with our choices, at the grid point that the labels choose, as in the paper; (c) defaults, no labels.
  
  AR: not found; expected a file such as AR.mat: 840 faces of 120 people
  JAFFE: not found; expected a file such as JAFFE.mat: 213 faces of 10 people, 26 x 26
  ORL: the first by name is used, not orl_copy.csv; 90 points, the paper's has 400
  UMIST: 75 points, the paper's has 564
  BinAlpha: not found; expected a file such as BinAlpha.mat: 30 images of each of the 26 letters, 20 x 16
  MSRA50: not found; expected a file such as MSRA50.mat: 1799 faces of 12 people, 32 x 32
  YaleB: not found; expected a file such as YaleB.mat: 2414 faces of 38 people, 32 x 32
  USPS: not found; expected a file such as USPS.mat: 9298 digits, 16 x 16
  $ ls out
  acc.csv
  acc.md
  acc.tex
  claims.md
  figure1.pdf
  figure1.png
  figure1.svg
  figure2.pdf
  figure2.png
  figure2.svg
  index.html
  nmi.csv
  nmi.md
  nmi.tex
  plan.json
  results.csv
  results.jsonl

The tables contain all nine methods with the paper's numbers, and agree with the raw results.

  $ cat > check.py <<'END'
  > import csv, json, struct, xml.dom.minidom
  > records = [json.loads(line) for line in open("out/results.jsonl")]
  > for metric, paper in ("acc", {"ORL": 76.0, "UMIST": 71.1}), ("nmi", {"ORL": 88.6, "UMIST": 84.1}):
  >     lines = list(csv.DictReader(open(f"out/{metric}.csv")))
  >     print([(b, len([l for l in lines if l["block"] == b])) for b in ("letter", "ours", "default", "prepared")])
  >     for line in lines:
  >         assert abs(float(line["difference"]) - (float(line["score"]) - float(line["paper"]))) < .051
  >         assert line["method"] != "ssc" or float(line["paper"]) == paper[line["data"]]
  >         assert (line["note"] == "reconstruction") == (line["method"] == "spls")
  >         assert (line["at"] == "") == (line["block"] != "prepared" and line["method"] in ("kmeans", "sc")
  >                 and (line["block"], line["method"]) != ("letter", "sc")) or line["block"] == "default", line
  >     for name in paper:
  >         for block, rows in ("letter", "sym"), ("ours", "unit"):
  >             line, = (l for l in lines if (l["block"], l["method"], l["data"]) == (block, "pca-sc", name))
  >             mean = {}
  >             for r in records:
  >                 if (r["data"], r["method"]) == (name, "pca-sc") and "dim" in r["settings"] and r["options"]["rows"] == rows:
  >                     mean.setdefault((r["settings"]["dim"], r["options"]["scale"]), []).append(r[metric])
  >             assert len(mean) == (45 if block == "letter" else 15) and {len(m) for m in mean.values()} == {2}
  >             assert abs(float(line["score"]) - 100 * max(sum(m) / 2 for m in mean.values())) < .051
  > for r in records: # the published methods are not refined, the defaults are
  >     if "refine" in r["options"]:
  >         default = set(r["settings"]) <= {"n_clusters", "n_init", "seed"}
  >         assert r["options"]["refine"] == ("auto" if default else "none"), r["settings"]
  >     letter = r["options"].get("preset") == "published" or r["options"]["init"] == "sample"
  >     assert not letter or r["options"]["prepare"] == "none" and r["options"].get("rows", "sym") == "sym"
  >     if r["method"] == "lda-kmeans" and letter: # one single start for each restart
  >         assert r["starts"] == 3
  > text = open("out/acc.md").read()
  > print("| spls (reconstruction) |" in text, text.count("**") > 4, "AR: not found" in text, text.count("<br>= sc") > 0)
  > print([line for line in text.split("\n") if line.startswith("#")])
  > text = open("out/acc.tex").read()
  > print(text.count("\\begin{tabular}"), "\\textbf{" in text, "reconstruction" in text)
  > text = "\n".join(line for line in text.split("\n") if not line.startswith("%"))
  > assert text.count("{") == text.count("}") and "_" not in text.replace("\\_", "")
  > for k in 1, 2:
  >     svg = xml.dom.minidom.parse(f"out/figure{k}.svg")
  >     pdf = open(f"out/figure{k}.pdf", "rb").read()
  >     png = open(f"out/figure{k}.png", "rb").read()
  >     ids = [e.getAttribute("id") for e in svg.getElementsByTagName("*") if e.hasAttribute("id")]
  >     lines = svg.getElementsByTagName("path")
  >     print(len(lines) > 20, len(ids) == len(set(ids)), all(i.startswith(f"figure{k}-") for i in ids))
  >     print(pdf.startswith(b"%PDF-1."), pdf.endswith(b"%%EOF\n"), b"CreationDate" in pdf)
  >     width, height = (float(svg.documentElement.getAttribute(n).rstrip("pt")) for n in ("width", "height"))
  >     print(struct.unpack(">2I", png[16:24]) == (2 * width, 2 * height))
  >     at = int(pdf.split(b"startxref\n")[1].split()[0])
  >     assert pdf[at:at + 4] == b"xref"
  > print("http://" in open("out/index.html").read().replace("http://www.w3.org", ""))
  > END
  $ /usr/bin/python3 check.py
  [('letter', 18), ('ours', 18), ('default', 18), ('prepared', 2)]
  [('letter', 18), ('ours', 18), ('default', 18), ('prepared', 2)]
  True True True True
  ['# Table 1. Performance comparison: accuracy (ACC), per cent', '## Table 1 (a) to the letter', '## Table 1 (b) with our choices', '## Table 1 (c) defaults, no labels', '## ssc, the best over preparations and gamma', '## Data']
  4 True True
  True True True
  True True False
  True
  True True True
  True True False
  True
  False

Every claim of the paper has a verdict, in claims.md and in JSON, which follows from the numbers.

  $ grep -c '^| [0-9]* | ' out/claims.md
  15
  $ grep '| LDA is better' out/claims.md | cut -d'|' -f4
   holds, 32 of 32 
  $ huddle paper data -o out --n-init 3 --seeds 2 -q --json > claims.json
  $ cat > claims.py <<'END'
  > import csv, json
  > claims = {c["claim"]: c for c in json.load(open("claims.json"))["claims"]}
  > line = claims["LDA is better than PCA"]["findings"]
  > print([f["source"] for f in line], line[0]["verdict"])
  > better = total = 0
  > for metric in "acc", "nmi":
  >     score = {(row["block"], row["method"], row["data"]): float(row["score"])
  >              for row in csv.DictReader(open(f"out/{metric}.csv"))}
  >     for name in "ORL", "UMIST":
  >         for lda, pca in ("lda-kmeans", "pca-kmeans"), ("lda-sc", "pca-sc"):
  >             better += score["ours", lda, name] > score["ours", pca, name]
  >             total += 1
  > assert (line[2]["as_claimed"], line[2]["compared"]) == (better, total)
  > descent = claims["The iteration decreases the objective in every step"]["findings"][1]
  > print(descent["verdict"], descent["compared"] > 50)
  > start = claims["The result does not rely on the initialization: random starts"]["findings"][1]
  > print(start["verdict"], start["compared"])
  > END
  $ /usr/bin/python3 claims.py
  ["the paper's own tables", 'to the letter', 'with our choices', 'defaults'] holds
  confirmed True
  confirmed 4

The second time nothing is computed, the figures are the same, byte by byte, and the plan can be run by
itself. The methods of related work are added to a finished run.

  $ mkdir before && cp out/figure* before
  $ huddle paper data -o out --n-init 3 --seeds 2 -q | grep -c ' 0 computed in 0.0 s'
  1
  $ for file in before/*; do cmp $file out/$(basename $file); done
  $ huddle experiment out/plan.json -o out -q | grep -c ' 0 computed in 0.0 s'
  1
  $ huddle paper data -o out --n-init 3 --seeds 1 --related --json -q > related.json
  $ /usr/bin/python3 -c '
  > import csv, json
  > result = json.load(open("related.json"))
  > names = [o["label"] for o in result["oracle"] if o["data"] == "ORL"]
  > lines = [l for l in csv.DictReader(open("out/acc.csv")) if l["block"] == "related" and l["data"] == "ORL"]
  > print(result["found"] > 10 * result["computed"], [l["method"] for l in lines] == names[-len(lines):], "nsc" in names)
  > print({l["paper"] for l in lines}, "## Related work" in open("out/acc.md").read())'
  True True True
  {''} True

A number is rounded the same way wherever it is shown. Of 80 points every second share, such as 77 of
them or 96.25 %, lies between two numbers of one decimal.

  $ mkdir halves && huddle generate blobs --n 80 --noise 4 -q -o halves/ORL.csv
  $ huddle paper halves -o halves-out --n-init 2 --seeds 1 -q > table
  $ cat > halves.py <<'END'
  > import csv, json, math, re
  > html = open("halves-out/index.html").read()
  > page = json.loads(re.search(r'id="data">(.*?)</script>', html, re.S).group(1))
  > tables = {s["id"]: [b["rows"] for b in [*s["blocks"][0].get("tables", []), *s["blocks"]] if "rows" in b]
  >           for s in page["sections"]}
  > cells = [row for s in page["sections"] if s["id"] == "cells" for b in s["blocks"] for row in b["rows"]]
  > record = [json.loads(line) for line in open("halves-out/results.jsonl")]
  > best, between = {row[1]: row for row in tables["best"][0][:9]}, 0
  > for metric, at in ("acc", 2), ("nmi", 6):
  >     csv_rows = {row["method"]: row for row in csv.DictReader(open(f"halves-out/{metric}.csv")) if row["block"] == "ours"}
  >     markdown = open(f"halves-out/{metric}.md").read()
  >     for name, cell in tables[metric][1]:
  >         ours = cell["text"].split()[0]
  >         assert ours == csv_rows[name.split()[0]]["score"] == best[name][at]["text"], (name, cell)
  >         assert float(ours) == math.floor(10 * best[name][at]["value"] + .5) / 10
  >         assert f" {ours}<br>" in markdown or f" **{ours}**<br>" in markdown
  >         mean = re.match("single starts ([0-9.]+)", cell["note"]).group(1)
  >         assert mean == csv_rows[name.split()[0]]["starts_mean"] == best[name][at + 1]["text"]
  >     for row in cells:
  >         between += metric == "acc" and row[3]["value"] * 4 % 2 == 1
  > print(between > 20)
  > END
  $ /usr/bin/python3 halves.py
  True

A BinAlpha file with digits is reduced to the letters; training and test parts are concatenated.

  $ cat > make.py <<'END'
  > import numpy as np
  > random = np.random.default_rng(0)
  > y = np.repeat(np.arange(1, 37), 31)
  > np.savez("more/BinAlpha.npz", X=random.random((len(y), 6)) + y[:, None], y=y)
  > parts = {}
  > for part, n in ("train", 40), ("test", 20):
  >     t = np.arange(n) % 2
  >     parts |= {f"{part}/data": random.random((n, 12)) + 3 * t[:, None], f"{part}/target": t}
  > np.savez("more/usps.npz", **parts)
  > END
  $ mkdir more && /usr/bin/python3 make.py
  $ huddle paper more -o more-out --n-init 1 --seeds 1 -q | grep -E '^(BinAlpha|USPS)'
  BinAlpha: 30 points of each class are drawn at random, with seed 0; reduced to classes 11-36
  USPS: training and test parts are concatenated; 60 points, the paper's has 9298
  $ /usr/bin/python3 -c '
  > import json
  > print(sorted({(r["data"], r["n"], r["n_classes"]) for r in map(json.loads, open("more-out/results.jsonl"))}))'
  [('BinAlpha', 780, 26), ('USPS', 60, 2)]

A folder without data sets, and no folder at all.

  $ mkdir empty && huddle paper empty -o no -q
  huddle: empty: none of the data sets was found
  [1]
  $ huddle paper nowhere -o no -q
  huddle: nowhere: the folder cannot be opened: No such file or directory
  [1]
