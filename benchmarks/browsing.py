"""A site in a browser: when its large pages are painted first, and how long filters, the search and
a choice on the compare page take.

python -m benchmarks.browsing SITE
"""

import sys
from pathlib import Path

from playwright.sync_api import Page, ViewportSize

from benchmarks.measured import print_line
from tests import browsers
from tests.serving import served

PAGES = ("index.html", "checkpoints/index.html", "models.html", "compare.html", "map.html")
WORDS = "checkpoint 77"
FILTER = ".pa-filter:not([hidden]) input"
SEARCH = ".md-search__input"
CHOICE = "#pac-choosers select"
DESKTOP = ViewportSize(width=1280, height=900)
TIMES = 3
# Milliseconds until the first paint of content.
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"
# Milliseconds from the end of a change of a field to the last change of the page that follows and
# has been painted. A page that changes nothing for QUIET is done.
QUIET = 1500
ANSWERED = """([field, value, event]) => new Promise((done) => {
  let last, late;
  const started = performance.now();
  const end = () => { watcher.disconnect(); done((last ?? started) - started); };
  const painted = () =>
    requestAnimationFrame(() => setTimeout(() => { last = performance.now(); }));
  const watcher = new MutationObserver(() => {
    painted();
    clearTimeout(late);
    late = setTimeout(end, QUIET);
  });
  const changes = { attributes: true, childList: true, characterData: true, subtree: true };
  watcher.observe(document.body, changes);
  late = setTimeout(end, QUIET);
  const element = document.querySelector(field);
  element.value = value;
  element.dispatchEvent(new Event(event, { bubbles: true }));
  painted();
})""".replace("QUIET", str(QUIET))


def main(site: Path) -> None:
    """Print a table of the slowest of ``TIMES``, in milliseconds. errors: RuntimeError without a
    browser
    """
    path = browsers.find()
    if path is None:
        raise RuntimeError(browsers.MISSING)
    print_line("| page | first paint | what | first answer | slowest after it |")
    print_line("| --- | --: | --- | --: | --: |")
    with served(site) as address, browsers.started(path) as browser:
        for name in PAGES:
            runs = []
            for _ in range(TIMES):
                with browser.new_context(viewport=DESKTOP) as context:
                    page = context.new_page()
                    page.goto(f"{address}/{name}", wait_until="networkidle")
                    runs.append((page.evaluate(PAINTED), *_answers(page)))
            painted, what, first, later = (max(column) for column in zip(*runs, strict=True))
            print_line(f"| {name} | {painted:.0f} | {what} | {first:.0f} | {later:.0f} |")


def _answers(page: Page) -> tuple[str, float, float]:
    """What is asked of a page, milliseconds until its first answer, and of the slowest later."""
    if page.locator(CHOICE).count():
        values = (
            page.locator(f"{CHOICE} >> nth=0")
            .locator("option")
            .evaluate_all("(options) => options.map((option) => option.value)")
        )
        chosen = values[1 :: max(1, len(values) // 4)]
        times = [page.evaluate(ANSWERED, [CHOICE, value, "change"]) for value in chosen]
        what = f"a choice of {len(values):,}"
    elif page.locator(FILTER).count():
        times = [page.evaluate(ANSWERED, [FILTER, WORDS[:end], "input"]) for end in _ends()]
        what = "its filter"
    else:
        page.keyboard.press("/")
        times = [page.evaluate(ANSWERED, [SEARCH, WORDS[:end], "input"]) for end in _ends()]
        what = "the search"
    return what, times[0], max(times[1:])


def _ends() -> range:
    """Where the words end that are typed letter by letter."""
    return range(1, len(WORDS) + 1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
