"""Look at every page of the site in Chromium, on a desktop and on a phone, in light and dark, and name what is wrong.

    python scripts/site/browser.py [--if-found] [PAGE ...]      (build/site has to be built: scripts/docs)

A page has no error in the console, is no wider than the screen, loads every picture, sends no request to another
machine, and has no text in a picture that is shown smaller than 9 pixels. The button for dark colours shows pictures as
a dark system does. The search finds something, without a network. Screenshots lie in build/screenshots. CHROMIUM names
the program, which is looked for otherwise. Where there is none, that is an error, or a warning with `--if-found`.
"""

import argparse
import functools
import http.server
import io
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image, ImageStat
from playwright.sync_api import Browser, Page, TimeoutError as TooLate, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SITE, SHOTS = ROOT / "build" / "site", ROOT / "build" / "screenshots"
SCREENS = {"desktop": (1280, 800, "light"), "phone": (390, 844, "dark")}
LEAST_TEXT = 9  # pixels
TALLEST_SHOT = 6000  # pixels

# What sticks out of the page to the right, outside of boxes that can be scrolled.
TOO_WIDE = """() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll('main *')]
        .filter(e => e.getBoundingClientRect().right > width + 1)
        .slice(0, 3).map(e => e.tagName + ' ' + e.textContent.trim().slice(0, 40));
}"""
NOT_LOADED = "() => [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src)"
# The least size of a text in each picture, as it is shown.
SMALLEST_TEXTS = """async () => {
    const found = [];
    for (const image of document.querySelectorAll('img[src$=".svg"]')) {
        const source = await (await fetch(image.src)).text();
        const holder = document.createElement('div');
        holder.style.cssText = 'position: absolute; left: -9999px; width: ' + image.naturalWidth + 'px';
        holder.innerHTML = source.slice(source.indexOf('<svg'));
        document.body.append(holder);
        const drawn = holder.querySelector('svg');
        const scale = image.clientWidth / drawn.getBoundingClientRect().width;
        for (const text of drawn.querySelectorAll('text')) {
            const zoom = text.getScreenCTM().a;
            const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(zoom, text.getScreenCTM().b) * scale;
            found.push([size, text.textContent, image.src]);
        }
        holder.remove();
    }
    return found;
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def served() -> str:
    handler = functools.partial(Quiet, directory=str(SITE))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def faults(browser: Browser, address: str, name: str, screen: str) -> Iterator[str]:
    width, height, colours = SCREENS[screen]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=colours)  # type: ignore[arg-type]
    page = context.new_page()
    told: list[str] = []
    page.on("console", lambda said: told.append(f"console: {said.text}") if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: told.append(f"error: {error}"))
    page.on("request", lambda asked: _ours(asked.url, address) or told.append(f"asks for {asked.url}"))
    page.on("response", lambda got: told.append(f"{got.status}: {got.url}") if got.status >= 400 else None)
    page.goto(address + name, wait_until="networkidle")
    page.wait_for_function("document.getAnimations().every(each => each.playState !== 'running')")  # the menu's
    told += [f"sticks out: {element}" for element in page.evaluate(TOO_WIDE)]
    told += [f"not loaded: {picture}" for picture in page.evaluate(NOT_LOADED)]
    texts = page.evaluate(SMALLEST_TEXTS)
    told += [f"{size:.1f} pixels: {text!r} in {src}" for size, text, src in texts if size < LEAST_TEXT]
    _shoot(page, SHOTS / screen / f"{name.removesuffix('.html').replace('/', '-')}.png")
    if colours == "light":
        dark = browser.new_page(viewport={"width": width, "height": height}, color_scheme="dark")
        told += _toggle_faults(page, dark)
        dark.close()
    if name == "index.html":
        told += _search_faults(page)
    context.close()
    yield from told


def _ours(url: str, address: str) -> bool:
    return url.startswith((address, "data:", "blob:"))


def _toggle_faults(page: Page, dark: Page) -> Iterator[str]:
    """Pictures that the button for dark colours does not change to what they are on a dark system."""
    before = _brightness(page)
    dark.goto(page.url, wait_until="networkidle")
    page.locator("form[data-md-component=palette] label:visible").click()
    page.locator("body[data-md-color-scheme=slate]").wait_for()
    for (source, light), (_, wanted), (_, found) in zip(before, _brightness(dark), _brightness(page), strict=True):
        if light < 2 * wanted or abs(found - wanted) > 2:
            yield f"{source} has the brightness {found:.0f} by the button, {wanted:.0f} in a dark system"


def _brightness(page: Page) -> list[tuple[str | None, float]]:
    """The address of each picture, and the mean of its pixels on the page, of 255."""
    pictures = page.locator('main img[src$=".svg"]').all()
    return [(picture.get_attribute("src"), _mean(picture.screenshot())) for picture in pictures]


def _mean(png: bytes) -> float:
    return ImageStat.Stat(Image.open(io.BytesIO(png)).convert("L")).mean[0]


def _search_faults(page: Page) -> Iterator[str]:
    if page.locator("label.md-header__button[for=__search]").is_visible():  # a phone's
        page.locator("label.md-header__button[for=__search]").click()
    page.locator("input.md-search__input").press_sequentially("BatchNormalization")  # it listens to keys
    try:
        page.locator(".md-search-result__item").first.wait_for(state="attached", timeout=60_000)
    except TooLate:
        yield "search finds nothing"


def _shoot(page: Page, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    height = page.evaluate("document.documentElement.scrollHeight")
    width = page.viewport_size["width"] if page.viewport_size else 0
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, TALLEST_SHOT)}
    page.screenshot(path=file, full_page=True, clip=clip)  # type: ignore[arg-type]


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--if-found", action="store_true", help="where there is no Chromium, warn and look at nothing")
    options.add_argument("pages", nargs="*", metavar="PAGE", help="a file in build/site; all without one")
    given = options.parse_args()
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    if not program and given.if_found:
        line = "!" * 80
        print(f"{line}\nNOT CHECKED: no Chromium here, so nobody looked at the pages.\n{line}", file=sys.stderr)
        return
    if not program:
        sys.exit("scripts/docs check needs Chromium: install it, or give its path as CHROMIUM.")
    names = given.pages or sorted(str(page.relative_to(SITE)) for page in SITE.rglob("*.html"))
    address, count = served(), 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name in names:
            for screen in SCREENS:
                for fault in faults(browser, address, name, screen):
                    count += 1
                    print(f"{name}, {screen}: {fault}")
        browser.close()
    print(f"{len(names)} pages on {len(SCREENS)} screens, {count} faults; screenshots in {SHOTS.relative_to(ROOT)}")
    sys.exit(count > 0)


if __name__ == "__main__":
    main()
