"""Curves of several runs in one SVG that stands alone."""

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 40, 50
COLOURS = ("#0b6bcb", "#c4521b", "#2b8a3e", "#7048a8")


def svg(title, x_name, y_name, curves):
    """curves: name -> [(x, y)], y from 0 to 1."""
    most = max(x for points in curves.values() for x, _ in points) or 1

    def place(x, y):
        return (LEFT + (WIDTH - LEFT - RIGHT) * x / most,
                HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
             f'height="{HEIGHT}" font-family="sans-serif" font-size="13">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             text(WIDTH / 2, 22, title, "middle")]
    for tick in range(6):
        x0, y = place(0, tick / 5)
        parts.append(f'<path d="M{x0:.1f} {y:.1f}H{WIDTH - RIGHT}" '
                     'stroke="#ddd"/>')
        parts.append(text(x0 - 8, y + 4, f"{20 * tick} %", "end"))
        x, y0 = place(most * tick / 5, 0)
        parts.append(text(x, y0 + 18, f"{most * tick / 5:g}", "middle"))
    parts.append(text(WIDTH / 2, HEIGHT - 10, x_name, "middle"))
    parts.append(text(LEFT, TOP - 8, y_name, "middle"))
    for number, (name, points) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join("{:.1f},{:.1f}".format(*place(x, y))
                        for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" '
                     f'stroke="{colour}" stroke-width="2"/>')
        parts.append(text(WIDTH - RIGHT - 4, HEIGHT - BOTTOM - 14 -
                          18 * (len(curves) - 1 - number), name, "end",
                          colour))
    return "\n".join(parts + ["</svg>", ""])


def text(x, y, words, anchor, colour="#333"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
            f'fill="{colour}">{words}</text>')
