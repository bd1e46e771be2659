#!/bin/sh
# Reads the #include lines below include/, src/, report/, experiment/, cli/, app/ and engines/ and
# fails, with file and line, if a layer includes a header that it must not include:
#
#     base < matrix < archive < stages < fit < steps < decide < methods < model < report < experiment, cli < app; engines
#
# Stages do not include each other, except that refine, the last of them, includes huddle/metrics.h.
# io, the readers and writers, is a library of its own: nothing else in src/ includes it, and it
# includes base, matrix and archive only. Public headers include only public headers. Reports,
# experiments and the tool include only public headers, their own and those of the system; besides
# these, experiments and cli, the command-line layer, include report/page.h and report/text.h, and the
# tool includes any header of report/, experiment/ and cli/.
#
#     check.sh [ROOT]        checks the project in ROOT, or the one this script belongs to
#     check.sh --self-test   checks, in a temporary folder, that violations are detected
set -eu

check() {
    # Without sources there is nothing to check, which is an error.
    files=$(cd "$1" && find include src report experiment cli app engines -name '*.[ch]' 2>/dev/null | LC_ALL=C sort)
    if [ -z "$files" ]; then
        echo "layers: no sources under $1" >&2
        return 1
    fi
    # shellcheck disable=SC2086 # file names of the project have no spaces
    (cd "$1" && awk '
    BEGIN {
        rank["base"] = 1
        rank["matrix"] = 2
        rank["archive"] = 3
        split("io prepare graph embed shrink kmeans metrics", stages, " ")
        for (i in stages)
            rank[stages[i]] = 4
        rank["refine"] = 4.5 # the stage that uses the scores of another
        rank["engines"] = 5 # the registry
        rank["fit"] = 5
        rank["steps"] = 6
        rank["decide"] = 7
        rank["methods"] = 8
        rank["model"] = 9
        rank["huddle"] = 10 # the header that includes all others
        rank["report"] = 11
        rank["experiment"] = 12
        rank["cli"] = 12
        rank["app"] = 13
        # Public headers that are not named after a folder.
        room["version"] = "base"
        room["path"] = "shrink"
        for (i = 1; i < ARGC; i++)
            exists[ARGV[i]] = 1
    }

    function wrong(why) {
        printf "%s:%d: %s\n", FILENAME, FNR, why > "/dev/stderr"
        faults++
    }

    # The module that the public header huddle/NAME.h belongs to.
    function room_of(path, name) {
        name = path
        sub(/^huddle\//, "", name)
        sub(/\.h$/, "", name)
        return name in room ? room[name] : name
    }

    # Whether a file of module `here` may include headers of module `there`.
    function sees(here, there) {
        if (there == "io" && here != "io" && rank[here] < rank["huddle"])
            return 0
        if (here == "refine" && rank[there] == 4 && there != "metrics")
            return 0
        return here == there || rank[there] < rank[here]
    }

    FNR == 1 {
        split(FILENAME, part, "/")
        top = part[1]
        here = top == "src" ? part[2] : top == "include" ? room_of(part[2] "/" part[3]) : top
        folder = FILENAME
        sub(/\/[^\/]*$/, "", folder)
        if ((top == "src" || top == "include") && !(here in rank))
            wrong("no layer is known for " here)
    }

    /^[ \t]*#[ \t]*include[ \t]*["<]/ {
        quoted = $0 ~ /include[ \t]*"/
        target = $0
        sub(/^[^"<]*["<]/, "", target)
        sub(/[">].*$/, "", target)
        first = target
        sub(/\/.*$/, "", first)
        public = target ~ /^huddle\/[^\/]*\.h$/
        outer = first == "report" || first == "experiment" || first == "cli"
        internal = target ~ /\// && !public && first in rank

        if (target ~ /(^|\/)\.\.?\// || target ~ /^(src|include|app|tests)\//)
            wrong("includes " target " by a way around")
        else if (public) {
            if (!(("include/" target) in exists))
                wrong("includes " target ", which is no public header")
            else if (top != "app" && top != "engines" && !sees(here, room_of(target)))
                wrong(here " must not see " room_of(target) " (" target ")")
        } else if (internal && outer) {
            if (!(target in exists))
                wrong("includes " target ", which does not exist")
            else if (!sees(here, first) || (rank[here] == rank["cli"] && first == "report" &&
                                            target !~ /^report\/(page|text)\.h$/))
                wrong(here " must not see " first " (" target ")")
        } else if (internal && (top == "app" || top == "report" || top == "experiment" ||
                               top == "cli"))
            wrong(top " must not include internal headers of the library (" target ")")
        else if (internal && top == "include")
            wrong("a public header must not include an internal one (" target ")")
        else if (internal && top == "src" &&
                 (!sees(here, first) || (here == "refine" && first == "metrics")))
            wrong(here " must not see " first " (" target ")")
        else if (quoted && !internal && top == "include")
            wrong("a public header must include huddle/... or <...>, not \"" target "\"")
        else if (quoted && !internal && target !~ /\.inc$/ && !((folder "/" target) in exists))
            wrong("no \"" target "\" beside this file")
    }

    END {
        if (faults > 0)
            exit 1
    }' $files)
}

# expect pass|FRAGMENT TITLE: checks the sample project in $root.
expect() {
    if check "$root" 2>"$root/said"; then said=pass; else said=$(cat "$root/said"); fi
    case $said in
    *"$1"*) ;;
    *)
        echo "layers: self-test: $2: expected '$1', got '$said'" >&2
        exit 1
        ;;
    esac
}

# trial FILE LINE FRAGMENT: adds one #include to FILE, expects the message, and removes it again.
trial() {
    cp "$root/$1" "$root/kept"
    echo "$2" >>"$root/$1"
    expect "$1:$(awk 'END { print NR }' "$root/$1"): $3" "$2 in $1"
    cp "$root/kept" "$root/$1"
}

self_test() {
    root=$(mktemp -d)
    trap 'rm -rf "$root"' EXIT
    trap 'exit 1' HUP INT TERM
    for room in base matrix archive io graph metrics refine fit steps decide methods model; do
        mkdir -p "$root/src/$room" "$root/include/huddle" "$root/app"
        echo "#include \"$room/own.h\"" >"$root/src/$room/own.c"
        echo '#include <stdio.h>' >"$root/src/$room/own.h"
        echo '#include <stddef.h>' >"$root/include/huddle/$room.h"
    done
    echo '#include "huddle/model.h"' >"$root/include/huddle/report.h"
    printf '#include "huddle/io.h"\n#include "base/own.h"\n' >>"$root/src/io/own.c"
    printf '#include "huddle/graph.h"\n#include "graph/own.h"\n' >>"$root/src/methods/own.c"
    printf '#include "huddle/refine.h"\n' >>"$root/src/methods/own.c"
    echo '#include "huddle/metrics.h"' | tee -a "$root/include/huddle/refine.h" >>"$root/src/refine/own.c"
    printf '#include "huddle/io.h"\n#include "huddle/model.h"\n' >"$root/include/huddle/huddle.h"
    mkdir -p "$root/report" "$root/experiment" "$root/cli"
    echo '#include <huddle/base.h>' | tee "$root/report/page.h" >"$root/report/own.h"
    echo '#include "report/page.h"' | tee "$root/report/own.c" >"$root/experiment/own.c"
    echo '#include <huddle/base.h>' | tee "$root/cli/own.h" >"$root/experiment/own.h"
    echo '#include "report/page.h"' >"$root/cli/own.c"
    echo '#include "own.h"' >"$root/app/own.c"
    printf '#include "%s/own.h"\n' report experiment cli >>"$root/app/own.c"
    echo '#include <huddle/huddle.h>' >"$root/app/own.h"
    echo '  #  include "methods.inc"' >>"$root/src/methods/own.c"
    echo '// a comment may say #include "model/own.h"' >>"$root/src/base/own.c"
    expect pass 'a project in order'

    trial src/base/own.c '#include "matrix/own.h"' 'base must not see matrix'
    trial src/base/own.h '#include "huddle/matrix.h"' 'base must not see matrix'
    trial src/matrix/own.c '#include "io/own.h"' 'matrix must not see io'
    trial src/matrix/own.c '#include "archive/own.h"' 'matrix must not see archive'
    trial src/archive/own.c '#include "io/own.h"' 'archive must not see io'
    trial src/io/own.c '#include "graph/own.h"' 'io must not see graph'
    trial src/io/own.c '#include "huddle/graph.h"' 'io must not see graph'
    trial src/io/own.c '  #  include <huddle/graph.h>' 'io must not see graph'
    trial src/io/own.c '#include "../graph/own.h"' 'includes ../graph/own.h by a way around'
    trial src/io/own.c '#include "io/../graph/own.h"' 'includes io/../graph/own.h by a way around'
    trial src/io/own.c '#include "src/graph/own.h"' 'includes src/graph/own.h by a way around'
    trial src/io/own.c '#include "huddle/absent.h"' 'includes huddle/absent.h, which is no'
    trial src/io/own.c '#include "absent.h"' 'no "absent.h" beside this file'
    trial src/methods/own.c '#include "io/own.h"' 'methods must not see io'
    trial src/metrics/own.c '#include "huddle/refine.h"' 'metrics must not see refine'
    trial src/refine/own.c '#include "metrics/own.h"' 'refine must not see metrics'
    trial src/refine/own.c '#include "huddle/graph.h"' 'refine must not see graph'
    trial src/refine/own.c '#include "methods/own.h"' 'refine must not see methods'
    trial src/steps/own.c '#include "decide/own.h"' 'steps must not see decide'
    trial src/decide/own.c '#include "methods/own.h"' 'decide must not see methods'
    trial src/fit/own.c '#include "steps/own.h"' 'fit must not see steps'
    trial src/model/own.c '#include "huddle/io.h"' 'model must not see io'
    trial src/methods/own.c '#include "model/own.h"' 'methods must not see model'
    trial include/huddle/io.h '#include "base/own.h"' 'a public header must not include an'
    trial include/huddle/io.h '#include "huddle/graph.h"' 'io must not see graph'
    trial include/huddle/io.h '#include "own.h"' 'a public header must include huddle/'
    trial app/own.c '#include "base/own.h"' 'app must not include internal headers'
    trial app/own.c '#include <model/own.h>' 'app must not include internal headers'
    trial report/own.c '#include "base/own.h"' 'report must not include internal headers'
    trial report/own.c '#include "experiment/own.h"' 'report must not see experiment'
    trial experiment/own.c '#include "report/own.h"' 'experiment must not see report'
    trial experiment/own.c '#include "model/own.h"' 'experiment must not include internal headers'
    trial experiment/own.c '#include "cli/own.h"' 'experiment must not see cli'
    trial cli/own.c '#include "experiment/own.h"' 'cli must not see experiment'
    trial cli/own.c '#include "report/own.h"' 'cli must not see report'
    trial cli/own.c '#include "base/own.h"' 'cli must not include internal headers'
    trial src/model/own.c '#include "report/own.h"' 'model must not see report'
    trial include/huddle/model.h '#include "huddle/report.h"' 'model must not see report'
    trial app/own.c '#include "report/absent.h"' 'includes report/absent.h, which does not exist'
    mkdir "$root/src/attic"
    echo '#include <stdio.h>' >"$root/src/attic/own.c"
    expect 'src/attic/own.c:1: no layer is known for attic' 'an unknown folder'
    rm -r "$root/src" "$root/include" "$root/app" "$root/report" "$root/experiment" "$root/cli"
    expect 'no sources' 'an empty project'
    echo "layers: self-test passed"
}

if [ "${1:-}" = --self-test ]; then
    self_test
else
    check "${1:-$(dirname "$0")/../..}"
    echo "layers: in order"
fi
