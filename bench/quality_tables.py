"""The Markdown tables of bench/quality.py, and the list of goals that were missed.

A record is one fit: label of the library, section, case, draw, method, seed, scores or error. A cell is
the mean over the seeds or draws; fits that failed are counted in the cell, never left out silently.
"""
import numpy as np

# Goals for the default of `ssc`, c known and no labels used. ACC:
IMAGE_GOALS = {"ORL": .79, "UMIST": .79, "BinAlpha": .55, "YaleB": .855, "USPS": .955, "MNIST10k": .94,
               "PenDigits": .89, "digits": .91}
BUNDLED_GOALS = {"wine": .80, "breast_cancer": .65, "iris": .70}  # ARI
MEAN_GOALS = {"tables": .24, "shapes": .83}                       # ARI
BREAST = "bundled/breast_cancer"
SLACK = .01             # the reference may be better by this much: smaller differences mean nothing
SOLVED = .99            # a case that the reference solves this well must stay solved
ROUNDING = .0005        # goals have as many digits as the tables
AUTO_GOAL = 6           # image sets whose number of clusters is found within a factor of 2
AUTO_RIGHT = {"8 blobs with a small group": {8, 9}, "moons": {2}, "rings": {2}, "iris": {2, 3}}
TIME_GOALS = [(12_000, 5.0), (50_000, None), (np.inf, 2.0)]  # up to n points: at most this ratio


class Book:
    """The records, and their means."""

    def __init__(self, records, libraries, peers, simple):
        self.records, self.libraries, self.peers, self.simple = records, libraries, peers, simple
        self.test, self.reference = libraries[0], libraries[-1]
        self.missed = []
        self.held = {}
        for record in records:
            self.held.setdefault((record["section"], record["case"], record["label"],
                                  record["method"]), []).append(record)

    def cases(self, section, group=None):
        """The names of the cases of a section, in order, with their first record."""
        found = {}
        for record in self.records:
            if record["section"] == section and (group is None or record["case"].split("/")[0] == group):
                found.setdefault(record["case"], record)
        return found

    def runs(self, section, case, label, method):
        return self.held.get((section, case, label, method), [])

    def mean(self, section, case, label, method, score):
        """The mean of a score over the fits that succeeded, or NaN."""
        values = [r[score] for r in self.runs(section, case, label, method) if score in r]
        return float(np.mean(values)) if values else np.nan

    def columns(self, section):
        """(label, method) of every column that has a record in the section."""
        wanted = [(r["label"], r["method"]) for r in self.records if r["section"] == section]
        order = self.libraries + [self.peers]
        kinds = list(dict.fromkeys(method for _, method in wanted))
        return sorted(set(wanted), key=lambda pair: (order.index(pair[0]), kinds.index(pair[1])))

    def cell(self, section, case, column, score):
        runs = self.runs(section, case, *column)
        errors = [r["error"] for r in runs if "error" in r]
        value = self.mean(section, case, *column, score)
        if errors:
            word = "time-out" if "no result after" in errors[0] else "failed"
            return word if np.isnan(value) else f"{number(value)} ({len(errors)} of {len(runs)} {word})"
        return number(value)


def number(value):
    """Three decimals without the leading zero."""
    if value is None or np.isnan(value):
        return ""
    value = round(value, 3) + 0.0  # no negative zero
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def signed(value):
    return "" if np.isnan(value) else ("+" if round(value, 3) >= 0 else "") + number(value)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def shape(record):
    return f"{record['n']} x {record['d']}" + (f", {record['c']}" if record["c"] else "")


def short(case):
    return case.split("/", 1)[1]


def heading(column, book):
    """A column of Huddle begins with the label of its build; other software stands alone."""
    return column[1] if column[0] == book.peers else f"{column[0]}: {column[1]}"


def mean_row(book, section, cases, columns, score, lead):
    """Means of the columns over cases; a column that lacks a case has none."""
    row = list(lead)
    for column in columns:
        values = [book.mean(section, case, *column, score) for case in cases]
        row.append(number(float(np.mean(values))) if values else "")
    return row


def images(book):
    cases, columns = book.cases("images"), book.columns("images")
    parts = []
    for score in ("acc", "nmi", "ari"):
        rows = []
        for case, record in cases.items():
            goal = IMAGE_GOALS[short(case)]
            row = [short(case), shape(record)] + [number(goal)] * (score == "acc")
            rows.append(row + [book.cell("images", case, column, score) for column in columns])
            value = book.mean("images", case, book.test, "ssc", "acc")
            if score == "acc" and not value >= goal - ROUNDING:
                book.missed.append(f"images, {short(case)}: ACC {number(value) or 'none'}, goal {number(goal)}")
        rows.append(mean_row(book, "images", cases, columns, score, ["mean", ""] + [""] * (score == "acc")))
        head = ["", "n x d, classes"] + ["goal"] * (score == "acc")
        parts.append(f"### Images, {score.upper()}\n\n" +
                     table(head + [heading(c, book) for c in columns], rows))
    for case in cases:
        compare(book, "images", case, ("acc",))
    return "\n\n".join(parts)


def oracle(book, section, case):
    """The best of the simple methods on a case: what one would get by knowing which to take."""
    values = [book.mean(section, case, book.reference, method, "ari") for method in book.simple]
    return float(np.max(values)) if not np.isnan(values).any() else np.nan


def check_mean(book, section, cases, goal, name):
    value = float(np.mean([book.mean(section, case, book.test, "ssc", "ari") for case in cases]))
    if goal and not value >= goal - ROUNDING:
        book.missed.append(f"mean over {name}: ARI {number(value)}, goal {number(goal)}")


def flat(book, section, group):
    """Tables or shapes: ARI, and the loss of the default against the best simple method."""
    cases, columns = book.cases(section, group), book.columns(section)
    rows, losses = [], {}
    for case, record in cases.items():
        best = oracle(book, section, case)
        losses[case] = best - book.mean(section, case, book.test, "ssc", "ari")
        rows.append([short(case), shape(record)] + [book.cell(section, case, c, "ari") for c in columns] +
                    [number(best), signed(-losses[case])])
        value, goal = book.mean(section, case, book.test, "ssc", "ari"), BUNDLED_GOALS.get(short(case))
        if group == "bundled" and goal and not value >= goal - ROUNDING:
            book.missed.append(f"scikit-learn's {short(case)}: ARI {number(value) or 'none'}, goal {number(goal)}")
        compare(book, section, case, ("ari",))
    bests = [oracle(book, section, case) for case in cases]
    rows.append(mean_row(book, section, cases, columns, "ari", ["mean", ""]) +
                [number(float(np.mean(bests))), signed(-float(np.mean(list(losses.values()))))])
    goal = MEAN_GOALS.get(group)
    check_mean(book, section, cases, goal, group)
    if group == "tables" and BREAST in book.cases(section):
        # The goal was set beside a mean of .15 of release 0.2, which is the mean over these sets.
        more = [*cases, BREAST]
        rows.append(mean_row(book, section, more, columns, "ari", ["mean with scikit-learn's breast_cancer", ""]) +
                    [number(float(np.mean(bests + [oracle(book, section, BREAST)]))), ""])
        check_mean(book, section, more, goal, f"{group} with breast_cancer")
    worst = max(losses, key=lambda case: losses[case])
    title = {"tables": "Tables", "shapes": "Shapes", "bundled": "scikit-learn's tables"}[group]
    head = ["", "n x d, classes"] + [heading(c, book) for c in columns] + ["best of the simple four", "default - best"]
    return (f"### {title}, ARI\n\n" + table(head, rows) +
            f"\n\nMean loss of the default against the best of {', '.join(book.simple)}: "
            f"{number(float(np.mean(list(losses.values()))))}; worst {number(losses[worst])} ({short(worst)}).")


def compare(book, section, case, kinds):
    """Notes a case where the build under test is worse than the reference."""
    if book.test == book.reference:
        return
    for score in kinds:
        test, reference = (book.mean(section, case, label, "ssc", score) for label in (book.test, book.reference))
        if np.isnan(reference):
            continue
        if not test >= reference - SLACK:
            book.missed.append(f"{section}, {short(case)}: {score.upper()} {number(test) or 'none'}, "
                               f"{book.reference} has {number(reference)}")
        elif reference >= SOLVED > test:
            book.missed.append(f"{section}, {short(case)}: {score.upper()} {number(test)} is below {number(SOLVED)}, "
                               f"{book.reference} has {number(reference)}")


def drawn(book, section, title):
    """Imbalance and generated shapes: means over draws, beside the reference."""
    cases = book.cases(section)
    columns = [c for c in book.columns(section)]
    rows, noise = [], []
    for case, record in cases.items():
        if record["c"] is None:
            for label in book.libraries:
                for run in book.runs(section, case, label, "ssc"):
                    noise.append(f"{label}, draw {run['draw']}: " + run.get("error", str(run.get("sizes"))))
            continue
        row = [short(case), shape(record)]
        for score in ("acc", "ari"):
            row += [book.cell(section, case, column, score) for column in columns]
            if book.test != book.reference:
                row.append(signed(book.mean(section, case, book.test, "ssc", score) -
                                  book.mean(section, case, book.reference, "ssc", score)))
        rows.append(row)
        compare(book, section, case, ("acc", "ari"))
    head = ["", "n x d, classes (draw 0)"]
    for score in ("ACC", "ARI"):
        head += [f"{score} {heading(c, book)}" for c in columns]
        head += [f"{score} difference"] * (book.test != book.reference)
    text = f"### {title}, means over draws\n\n" + table(head, rows)
    if noise:
        text += "\n\nUniform noise, sizes of the clusters: " + "; ".join(noise) + "."
    return text


def auto(book):
    """The number of clusters found, one number per seed or draw."""
    rows, near = [], 0
    for case, record in book.cases("auto").items():
        name, row = short(case), [short(case), AUTO_RIGHT.get(short(case)) and " or ".join(
            map(str, sorted(AUTO_RIGHT[short(case)]))) or record["c"]]
        for label in book.libraries:
            runs = book.runs("auto", case, label, "ssc")
            row.append(" ".join(str(r.get("found", "failed")) for r in runs))
            if label != book.test:
                continue
            numbers = [r.get("found", 0) for r in runs]
            if case.startswith("images/"):
                near += all(record["c"] / 2 <= k <= 2 * record["c"] for k in numbers)
            elif not set(numbers) <= AUTO_RIGHT[name]:
                book.missed.append(f"number of clusters, {name}: found {row[-1]}")
        rows.append(row)
    total = len(book.cases("auto", "images"))
    if near < AUTO_GOAL and total == len(IMAGE_GOALS):
        book.missed.append(f"number of clusters: {near} of {total} image sets within a factor of 2, goal {AUTO_GOAL}")
    return ("### Number of clusters found\n\n" + table(["", "true"] + book.libraries, rows) +
            f"\n\nImage sets within a factor of 2 ({book.test}): {near} of {total}.")


def times(book):
    """CPU seconds of the default beside those of a single plain run."""
    rows = []
    for case, record in book.cases("time").items():
        row = [short(case), shape(record)]
        for label in book.libraries:
            default, plain = (book.mean("time", case, label, method, "cpu") for method in ("ssc", "ssc raw"))
            row += [f"{default:.2f}", f"{plain:.2f}", f"{default / plain:.1f}"]
            limit = next(ratio for n, ratio in TIME_GOALS if record["n"] <= n)
            if label == book.test and limit and not default / plain <= limit:
                book.missed.append(f"time, {short(case)}: {row[-1]} times a plain run, goal {limit:g}")
        rows.append(row)
    head = ["", "n x d, classes"]
    for label in book.libraries:
        head += [f"{label}: default", "prepare none, refine none", "ratio"]
    return "### Time: CPU seconds, the smallest of three\n\n" + table(head, rows)


def markdown(records, libraries, peers, simple):
    """All sections that have records, then the goals that were missed."""
    book = Book(records, libraries, peers, simple)
    parts = []
    if book.cases("images"):
        parts.append(images(book))
    for section, group in (("tables", "tables"), ("tables", "bundled"), ("shapes", "shapes")):
        if book.cases(section, group):
            parts.append(flat(book, section, group))
    for section, title in (("imbalance", "Unequal classes"), ("synthetic", "Generated points")):
        if book.cases(section):
            parts.append(drawn(book, section, title))
    if book.cases("auto"):
        parts.append(auto(book))
    if book.cases("time"):
        parts.append(times(book))
    failed = [f"{r['label']}, {r['section']}, {short(r['case'])}, draw {r['draw']}, {r['method']}, seed {r['seed']}: "
              f"{r['error']}" for r in records if "error" in r]
    parts.append("### Missed\n\n" + ("\n".join("* " + line for line in book.missed) or "Nothing."))
    if failed:
        parts.append("### Failed fits\n\n" + "\n".join("* " + line for line in failed))
    return "\n\n".join(parts)
