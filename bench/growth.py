"""How time and memory grow with the number of points: the stages of whole runs on sheets of each size.

The exponent is the slope of a line fitted to the logarithms, by least squares, from FIRST points on; below,
fixed costs dominate.
"""
import math

from cases import sheets

FIRST = 10_000
SHOWN = .01  # share of the largest run from which on a stage is drawn


def collect(plan, store):
    """[{"n", "seconds", "peak", "stages"}] of the sizes that were measured."""
    grown = []
    for n in plan.sizes():
        found = store.summary(plan.fit(sheets(n)))
        if found and not found["failure"]:
            grown.append({"n": n, "seconds": found["seconds"], "peak": found["peak"], "cpu": found["cpu"],
                          "stages": found["stages"]})
    return grown


def stage_names(grown):
    """All stages, in the order of a run."""
    return list(dict.fromkeys(name for each in grown for name in each["stages"]))


def series(grown, name):
    """The pairs (n, value) of "seconds", "peak" or a stage."""
    return [(each["n"], each[name] if name in each else each["stages"].get(name, 0.)) for each in grown]


def exponent(pairs, first=FIRST):
    """The fitted exponent, or None with fewer than two sizes."""
    points = [(math.log(n), math.log(value)) for n, value in pairs if n >= first and value > 0]
    if len(points) < 2:
        return None
    x, y = (sum(values) / len(points) for values in zip(*points))
    spread = sum((a - x) ** 2 for a, _ in points)
    return sum((a - x) * (b - y) for a, b in points) / spread


def markdown(grown):
    """The lines of a table: one row per stage, one column per size, the exponent last."""
    if not grown:
        return []
    lines = ["| sheets, c = 40 | " + " | ".join(f"{each['n']:,}" for each in grown) + f" | exponent from {FIRST:,} |",
             "|---|" + "---:|" * (len(grown) + 1)]

    def line(title, name, form):
        pairs = series(grown, name)
        power = exponent(pairs)
        values = " | ".join(form(value) for _, value in pairs)
        lines.append(f"| {title} | {values} | {'' if power is None else f'{round(power, 2) + 0.:.2f}'} |")
    for name in stage_names(grown):
        line(f"{name}, s", name, lambda value: f"{value:.3g}")
    line("**whole run, s**", "seconds", lambda value: f"{value:.3g}")
    line("CPU, s", "cpu", lambda value: f"{value:.3g}")
    line("peak memory, MB", "peak", lambda value: f"{value / 1e6:.0f}")
    return lines


def label(name, pairs):
    power = exponent(pairs)
    return name if power is None else f"{name} {power:.2f}"


def draw(grown, folder):
    """Two log-log plots, seconds and memory, as growth.png and growth.svg."""
    if len(grown) < 2:
        return
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), gridspec_kw={"wspace": .8})
    for name in stage_names(grown):
        pairs = [(n, value) for n, value in series(grown, name) if value > 0]
        if pairs and pairs[-1][1] > SHOWN * grown[-1]["seconds"]:
            left.loglog(*zip(*pairs), "o-", linewidth=1, markersize=3, label=label(name, pairs))
    for axes, name, unit in ((left, "seconds", 1), (right, "peak", 1e6)):
        pairs = [(n, value / unit) for n, value in series(grown, name)]
        axes.loglog(*zip(*pairs), "o-", color="black", label=label("whole run", pairs))
        axes.set_xlabel("points (32 features, 40 clusters)")
        axes.grid(True, which="major", alpha=.25)
    left.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, .5), title="stage, exponent")
    right.legend(frameon=False, fontsize=8, title="exponent")
    left.set_ylabel("seconds")
    right.set_ylabel("peak memory, MB")
    for suffix in ("png", "svg"):
        figure.savefig(folder / f"growth.{suffix}", dpi=110, bbox_inches="tight")
    plt.close(figure)
