"""Opens the sample pages in a headless Chromium and looks at them as a reader would.

usage: check_report.py CHROMIUM PAGES PICTURES    checks the pages in a folder, writes screenshots
       check_report.py CHROMIUM --self-test       checks that bad pages are found out
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from browser import Browser, Page
from tally import Tally, check_binary

LARGEST = 5_000_000
FIGURES = ["spectrum", "density", "frustration", "response", "eigenmap", "training", "confusion", "shares"]

UNNAMED = """[...document.querySelectorAll('svg, canvas, img')].filter(one => {
  if (one.closest('[aria-hidden=true]') || one.getBoundingClientRect().width === 0) return false;
  const title = one.querySelector('title');
  const name = one.getAttribute('aria-label') || (title && title.textContent) || one.alt || '';
  return one.getAttribute('role') !== 'img' || name.trim() === '';
}).map(one => one.outerHTML.slice(0, 80))"""

UNREACHABLE = """[...document.querySelectorAll('.chart, .matrix, canvas.map, input, summary, .scroll')]
  .filter(one => one.tabIndex < 0).map(one => one.outerHTML.slice(0, 80))"""

UNMATCHED = """[...document.querySelectorAll('[aria-labelledby], [aria-describedby], label[for]')]
  .flatMap(one => `${one.getAttribute('aria-labelledby') || ''} ${one.getAttribute('aria-describedby') || ''} ${one.htmlFor || ''}`
    .split(' ')).filter(id => id && document.querySelectorAll('#' + CSS.escape(id)).length !== 1)"""

SMALL_TEXT = """[...document.querySelectorAll('svg:not([aria-hidden]) text')].filter(one => {
  if (one.getBoundingClientRect().width === 0) return false;
  return one.getAttribute('font-size') * one.ownerSVGElement.getScreenCTM().a < 8.5;
}).map(one => one.textContent)"""

CUT_TEXT = """[...document.querySelectorAll('svg text')].filter(one => {
  const box = one.getBoundingClientRect(), frame = one.ownerSVGElement.getBoundingClientRect();
  return box.width > 0 && (box.left < frame.left - 3 || box.right > frame.right + 3
    || box.top < frame.top - 3 || box.bottom > frame.bottom + 3);
}).map(one => one.textContent)"""

GROUND = """(() => {
  const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).map(Number);
  return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
})()"""

WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

Check = tuple[str, bool]


def looks(page: Page, pictures: Path | None, name: str) -> Iterator[Check]:
    """What holds at every width and in every theme."""
    themes = [("screen", "light"), ("screen", "dark")]
    # The third is a sheet of A4 with its margins.
    sizes = [(360, 740, themes), (1440, 900, themes), (718, 1000, [("print", "dark")])]
    for width, height, media_and_scheme in sizes:
        page.size(width, height)
        for media, scheme in media_and_scheme:
            page.media(media, scheme)
            page.settle()
            where = f"{width} px, {media}, {scheme}"
            over = page.run(WIDE)
            yield f"{where}: {over} px wider than the window", over <= 0
            ground = page.run(GROUND)
            dark = media == "screen" and scheme == "dark"
            yield f"{where}: ground of luminance {ground:.2f}", (ground < 0.2) if dark else ground > 0.8
            cut = page.run(CUT_TEXT)
            yield f"{where}: text runs out of its picture: {cut[:3]}", not cut
            if media == "screen":
                small = page.run(SMALL_TEXT)
                yield f"{where}: text too small to read: {small[:3]}", not small
            if pictures:
                page.picture(pictures / f"{name}-{width}-{media}-{scheme}.png")
        page.media("screen", "light")
        unnamed = page.run(UNNAMED)
        yield f"{width} px: pictures without a text alternative: {unnamed}", not unnamed


def answers(page: Page) -> Iterator[Check]:
    """What the page does when it is used."""
    page.size(1440, 900)
    page.settle()
    if page.run("!!document.querySelector('.slider')"):
        line = "document.querySelector('.slider ~ .chart [data-series=\"1\"]').getAttribute('d')"
        said = "document.querySelector('.slider output').textContent"
        before = page.run(line), page.run(said)
        page.run("document.querySelector('.slider input').focus()")
        page.key("ArrowRight")
        after = page.run(line), page.run(said)
        yield "the slider does not move the curve", before[0] != after[0]
        yield "the slider does not say its value", before[1] != after[1]
        page.key("ArrowLeft")
        yield "the slider does not come back", page.run(said) == before[1]
    tip = "document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent"
    for kind in ("chart", "matrix"):
        for at in range(page.run(f"document.querySelectorAll('.{kind}').length")):
            box = f"document.querySelectorAll('.{kind}')[{at}]"
            page.run(f"{box}.scrollIntoView({{block: 'center'}}), {box}.focus()")
            page.key("ArrowRight")
            yield f"{kind} {at}: no value by keyboard", page.run(tip) != ""
            page.run(f"{box}.blur()")
            yield f"{kind} {at}: the value stays", page.run(tip) == ""
            x, y = page.run(
                f"(() => {{ const b = {box}.getBoundingClientRect(); "
                "return [b.left + 0.35 * b.width, b.top + 0.55 * b.height]; })()"
            )
            page.mouse("mouseMoved", x, y)
            page.settle()
            yield f"{kind} {at}: no value under the pointer", page.run(tip) != ""
            page.mouse("mouseMoved", 1, 1)
    if page.run("!!document.querySelector('canvas.map')"):
        yield from turns(page)


def turns(page: Page) -> Iterator[Check]:
    """The eigenmap turns by keys and by mouse."""
    map_ = "document.querySelector('canvas.map')"
    ink = f"""(() => {{ const c = {map_}, d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
      let sum = 0, seen = 0;
      for (let i = 3; i < d.length; i += 4) {{ sum = (sum * 31 + d[i]) % 1000000007; if (d[i]) seen++; }}
      return [sum, seen]; }})()"""
    page.run(f"{map_}.scrollIntoView({{block: 'center'}}), {map_}.focus({{preventScroll: true}})")
    page.settle()
    first = page.run(ink)
    yield "the map is empty", first[1] > 500
    page.key("ArrowRight")
    second = page.run(ink)
    yield "the map does not turn by keys", second[0] != first[0]
    x, y = page.run(
        f"(() => {{ const b = {map_}.getBoundingClientRect(); "
        "return [b.left + b.width / 2, b.top + b.height / 2]; })()"
    )
    page.mouse("mousePressed", x, y, held=True)
    page.mouse("mouseMoved", x + 60, y + 25, held=True)
    page.settle()
    yield "the map does not turn by mouse", page.run(ink)[0] != second[0]
    page.mouse("mouseReleased", x + 60, y + 25, held=True)
    page.send("Emulation.setTouchEmulationEnabled", enabled=True)
    before = page.run(ink)
    for kind, way in (("touchStart", 0), ("touchMove", 40), ("touchMove", 90)):
        page.send("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x + way, "y": y}])
    page.settle()
    yield "the map does not turn by finger", page.run(ink)[0] != before[0]
    page.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    page.send("Emulation.setTouchEmulationEnabled", enabled=False)


def checks(page: Page, file: Path, pictures: Path | None) -> Iterator[Check]:
    """All checks of one page."""
    url = file.resolve().as_uri()
    page.size(1440, 900)
    page.media("screen", "light")
    taken = page.open(url)
    title = page.run("document.title")
    yield f"a name has run as a script: {title}", title != "broken"
    yield "no policy", page.run("!!document.querySelector('meta[http-equiv=Content-Security-Policy]')")
    unmatched = page.run(UNMATCHED)
    yield f"names of no element, or of two: {unmatched}", not unmatched
    unreachable = page.run(UNREACHABLE)
    yield f"out of reach of the keyboard: {unreachable}", not unreachable
    size = file.stat().st_size
    yield f"{size} bytes", size <= LARGEST
    if pictures:
        print(f"{file.name}: {size / 1e6:.2f} MB, on screen after {taken:.0f} ms")
    yield from looks(page, pictures, file.stem)
    yield from answers(page)
    elsewhere = [sent for sent in page.requests() if sent != url and not sent.startswith("data:")]
    yield f"asked for {elsewhere}", not elsewhere
    complaints = page.complaints()
    yield f"the browser complains: {complaints[:3]}", not complaints


def smoothness(page: Page) -> float:
    """Milliseconds a frame while the map turns."""
    return page.run(
        """new Promise(done => {
          const map = document.querySelector('canvas.map'), start = performance.now();
          let left = 30;
          const turn = () => {
            if (left-- === 0) { done((performance.now() - start) / 30); return; }
            map.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
            requestAnimationFrame(turn);
          };
          turn();
        })"""
    )


def check_all(browser: Browser, folder: Path, pictures: Path) -> int:
    tally = Tally()
    names = ["report", "hostile", "large", "bare", *FIGURES, "eigenmap_large"]
    for name in names:
        page = Page(browser)
        failures, passed = [], 0
        for what, good in checks(page, folder / f"{name}.html", pictures):
            passed += good
            if not good:
                failures.append(what)
        note = f"; {smoothness(page):.0f} ms a frame while turning" if "large" in name else ""
        page.close()
        tally.graph(name, "properties", passed, failures, note)
    return tally.end()


def self_test(browser: Browser) -> int:
    """Pages with one fault each: the check must name it."""
    plain = "<!doctype html><meta charset=utf-8><title>t</title><meta http-equiv=Content-Security-Policy content=\"img-src data:\">"
    body = "<style>:root{color-scheme:light dark}body{background:#fff}@media screen and (prefers-color-scheme:dark){body{background:#000}}</style>"
    tip = "<div id=tip hidden></div>"
    faults = {
        "wider than the window": "<div style='width:2000px'>x</div>",
        "without a text alternative": "<svg width=9 height=9></svg>",
        "the browser complains": "<script>throw new Error('no')</script>",
        "asked for": "<link rel=stylesheet href=elsewhere.css>",
        "a name has run": "<script>document.title = 'broken'</script>",
        "out of reach": "<div class=matrix tabindex=-1></div>",
        "no value by keyboard": "<div class=matrix tabindex=0></div>",
        "names of no element": "<p aria-labelledby=none>x</p>",
    }
    cases: list[tuple[str | None, str]] = [(None, plain + body + tip)]
    cases += [(fault, plain + body + fragment + tip) for fault, fragment in faults.items()]
    cases.append(("no policy", "<!doctype html><title>t</title>" + body + tip))
    cases.append(("ground of", plain + "<style>body{background:#fff}</style>" + tip))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for fault, text in cases:
            file = Path(folder) / "page.html"
            file.write_text(text)
            page = Page(browser)
            found = [what for what, good in checks(page, file, None) if not good]
            page.close()
            seen = any(fault in what for what in found) if fault else not found
            if not seen:
                wrong += 1
                print(f"FAIL {fault or 'a good page'}: {found}")
    print(f"self-test: {len(cases) - wrong} of {len(cases)} pages judged rightly")
    return 1 if wrong else 0


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[2] == "--self-test":
        work: Callable[[Browser], int] = self_test
    elif len(sys.argv) == 4:
        folder, pictures = Path(sys.argv[2]), Path(sys.argv[3])
        pictures.mkdir(parents=True, exist_ok=True)
        work = lambda browser: check_all(browser, folder, pictures)  # noqa: E731
    else:
        print(__doc__)
        return 2
    browser = Browser(check_binary(sys.argv[1]))
    try:
        return work(browser)
    finally:
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
