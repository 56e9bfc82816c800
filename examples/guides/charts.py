"""Plots as SVG that stand alone."""

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 40, 50
LEGEND = 180  # width
COLOURS = ("#0b6bcb", "#c4521b", "#2b8a3e", "#7048a8")


def ticks_to(most):
    """Round numbers from 0 to at least `most`, five or fewer steps."""
    step = 10.0 ** -9
    factors = (2, 2.5, 2)
    turn = 0
    while step * 5 < most:
        step *= factors[turn % 3]
        turn += 1
    return [step * tick for tick in range(int(most / step + 0.999999) + 1)]


def curves(title, x_name, y_name, lines, diagonal=False, y_from=0):
    """lines: name -> [(x, y)], x from 0 up and y from y_from up; diagonal:
    (0, 0) to the corner, dashed."""
    xs = ticks_to(max(x for line in lines.values() for x, _ in line) or 1)
    most = max(y for line in lines.values() for _, y in line) or 1
    ys = [y_from + y for y in ticks_to(most - y_from)]

    def place(x, y):
        return (LEFT + (WIDTH - LEFT - RIGHT) * x / xs[-1],
                HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) *
                (y - ys[0]) / (ys[-1] - ys[0]))

    parts = [_text(WIDTH / 2, 22, title, "middle")]
    for y in ys:
        left, row = place(0, y)
        parts.append(f'<path d="M{left:.1f} {row:.1f}H{WIDTH - RIGHT}" '
                     'stroke="#ddd"/>')
        parts.append(_text(left - 8, row + 4, f"{y:g}", "end"))
    for x in xs:
        column, bottom = place(x, ys[0])
        parts.append(_text(column, bottom + 18, f"{x:g}", "middle"))
    parts.append(_text(WIDTH / 2, HEIGHT - 10, x_name, "middle"))
    parts.append(_text(8, TOP - 10, y_name, "start"))
    if diagonal:
        (x0, y0), (x1, y1) = place(0, ys[0]), place(xs[-1], ys[-1])
        parts.append(f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" '
                     'stroke="#999" stroke-dasharray="4 4"/>')
    spots = [place(x, y) for points in lines.values() for x, y in points]
    x, row, anchor = _legend(spots, 18 * len(lines))
    for number, (name, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join("{:.1f},{:.1f}".format(*place(x, y))
                        for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" '
                     f'stroke="{colour}" stroke-width="2"/>')
        parts.append(_text(x, row + 18 * number, name, anchor, colour))
    return _page(parts, HEIGHT)


def _legend(spots, height):
    """Where the names stand, x, first row and anchor: in the corner that the
    fewest points of the curves are in."""
    def crowd(corner):
        x, row, _ = corner
        return sum(abs(spot_x - x) < LEGEND and
                   row - 20 < spot_y < row + height
                   for spot_x, spot_y in spots)

    bottom = HEIGHT - BOTTOM + 4 - height
    return min(((WIDTH - RIGHT - 4, TOP + 14, "end"),
                (WIDTH - RIGHT - 4, bottom, "end"),
                (LEFT + 8, TOP + 14, "start"),
                (LEFT + 8, bottom, "start")), key=crowd)


def bars(title, unit, values):
    """values: name -> number from 0 up."""
    most = max(values.values()) or 1
    height = TOP + 34 * len(values) + 16
    parts = [_text(WIDTH / 2, 22, title, "middle")]
    for number, (name, value) in enumerate(values.items()):
        y = TOP + 34 * number
        width = 300 * value / most
        parts.append(_text(200, y + 17, name, "end"))
        parts.append(f'<rect x="210" y="{y}" width="{width:.1f}" height="24" '
                     f'fill="{COLOURS[number % len(COLOURS)]}"/>')
        parts.append(_text(216 + width, y + 17, f"{value:.4g} {unit}",
                           "start"))
    return _page(parts, height)


def _page(parts, height):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>', *parts,
        "</svg>", ""])


def _text(x, y, words, anchor, colour="#333"):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
            f'fill="{colour}">{words}</text>')
