"""What a hand can do to the page, each an event with everything it needs drawn beforehand, so that a seed replays.

An event is a name and its arguments as plain values; `play` carries it out. Which of the buttons or fields there are is
drawn as a number in [0, 1), a place in the list of what is there when it is carried out.
"""

import random

from playwright.sync_api import Error

KINDS = {
    "press": 30, "type": 22, "key": 14, "tab": 12, "choose": 8, "switch": 6, "resize": 5, "wait": 5, "link": 3,
    "back": 2, "reload": 2, "cut": 2,
}  # fmt: skip

TEXTS = (
    "0", "1", "3", "5", "7", "12", "40", "300", "1000", "2,000", "0,5", "1,5", "0.25", "4", "-1", "1e3", "1e99", "nan",
    "inf", "", " ", "ten", "1_000", "١٢", "½", "<img src=x onerror=alert(1)>", "<b>5</b>", "'; drop", "9" * 5000,
)  # fmt: skip

LINKS = (
    "", "?preset=fig3", "?preset=nonsense", "?nv=5&nh=1&T=300&out=100", "?nv=0,5", "?nv=-3&T=ten&g2=", "?%00=%ff",
    "?nv=4&nh=2&T=200&model=stochastic&learner=exact", "?nv=6&nh=2&T=300&model=stochastic&learner=mean-field",
    "?nv=4&nh=1&T=200&model=stochastic&learner=gibbs", "?theme=dark", "?theme=neon", "?tab=inspector&nv=5&nh=1&T=200",
    "?step=7&nv=4&nh=1&T=200", "?nv=" + "9" * 5000, "?" + "&".join(f"x{k}=1" for k in range(300)),
    "?nv=<script>alert(1)</script>",
)  # fmt: skip

PRESSES = (" ", "s", "h", "r", "1", "2", "9", "a", "u", "U", "?", "Escape", "Tab", "Enter", "ArrowLeft", "ArrowRight")
PATIENT = 0.7  # share of the times that a page is waited for before the next event
SIZES = ((1400, 900), (800, 900), (390, 844), (1280, 720), (1920, 1080))


def drawn(seed, n):
    """The first n events of a seed, as (kind, *arguments)."""
    rng = random.Random(seed)
    arguments = {
        "press": lambda: (rng.random(),),
        "type": lambda: (rng.random(), rng.choice(TEXTS)),
        "key": lambda: (rng.choice(PRESSES),),
        "tab": lambda: (rng.random(),),
        "choose": lambda: (rng.random(), rng.random()),
        "switch": lambda: (rng.random(),),
        "resize": lambda: rng.choice(SIZES),
        "wait": lambda: (rng.randrange(20, 800),),
        "link": lambda: (rng.choice(LINKS), rng.random() < PATIENT),
        "back": lambda: (rng.random() < PATIENT,),
        "reload": lambda: (rng.random() < PATIENT,),
        "cut": lambda: (),
    }
    events = []
    for _ in range(n):
        kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
        events.append((kind, *arguments[kind]()))
    return events


def play(tab, url, event):
    """Carry an event out; what is not there, or covered, or gone by then, is no fault. Says what was done."""
    kind, *given = event
    try:
        return ACTS[kind](tab, url, *given) or ""
    except Error as error:
        return f"not done: {str(error).splitlines()[0]}"


def _one(tab, role, place, **which):
    """The visible element of this role at this place, from 0 to 1; None if there is none."""
    there = [each for each in tab.get_by_role(role, **which).all() if each.is_visible()]
    return there[int(place * len(there))] if there else None


def _press(tab, _url, place):
    button = _one(tab, "button", place, disabled=False)
    if button is None:
        return "no button"
    name = button.get_attribute("aria-label") or button.inner_text()
    button.click(timeout=1500)
    return " ".join(name.split())[:60]


def _type(tab, _url, place, text):
    field = _one(tab, "textbox", place) or _one(tab, "spinbutton", place)
    if field is None:
        return "no field"
    field.click(timeout=1500)
    field.press("Control+a")
    tab.keyboard.insert_text(text)
    field.press("Enter", timeout=1500)
    return text[:40]


def _choose(tab, _url, menu_place, option_place):
    menu = _one(tab, "combobox", menu_place)
    if menu is None:
        return "no menu"
    if menu.evaluate("(menu) => menu.tagName") == "SELECT":
        options = menu.locator("option").all_inner_texts()
        if not options:  # gone by then
            return "no option"
        menu.select_option(label=options[int(option_place * len(options))], timeout=1500)
        return options[int(option_place * len(options))]
    menu.click(timeout=1500)
    option = _one(tab, "option", option_place)
    if option is None:
        tab.keyboard.press("Escape")
        return "no option"
    text = option.inner_text()
    option.click(timeout=1500)
    return text


def _tab(tab, _url, place):
    found = _one(tab, "tab", place)
    if found is not None:
        found.click(timeout=1500)
        return found.inner_text()
    return "no tab"


def _switch(tab, _url, place):
    found = _one(tab, "switch", place) or _one(tab, "checkbox", place)
    if found is not None:
        found.click(timeout=1500)


def _key(tab, _url, key):
    tab.keyboard.press(key)


def _resize(tab, _url, width, height):
    tab.set_viewport_size({"width": width, "height": height})


def _wait(tab, _url, milliseconds):
    tab.wait_for_timeout(milliseconds)


def _link(tab, url, query, patient):
    tab.goto(url + query, timeout=60_000)
    _await(tab, patient)


def _back(tab, url, patient):
    tab.go_back(timeout=60_000)
    if not tab.url.startswith(url):  # there was nothing before the page
        tab.goto(url, timeout=60_000)
    _await(tab, patient)


def _reload(tab, _url, patient):
    tab.reload(timeout=60_000)
    _await(tab, patient)


def _await(tab, patient):
    if patient:
        tab.locator("#hidviz-status").wait_for(state="attached", timeout=60_000)


def _cut(tab, _url):
    tab.evaluate("window.cutSockets && window.cutSockets()")


ACTS = {
    "press": _press, "type": _type, "choose": _choose, "tab": _tab, "switch": _switch, "key": _key, "resize": _resize,
    "wait": _wait, "link": _link, "back": _back, "reload": _reload, "cut": _cut,
}  # fmt: skip
