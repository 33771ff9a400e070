#!/usr/bin/env python3
"""Uses the page of an index by keyboard alone, and reads what a screen reader is given: browse_keys.py FILE.html."""
import sys

from selenium import webdriver
from selenium.webdriver.common.keys import Keys

options = webdriver.ChromeOptions()
for word in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
    options.add_argument(word)
driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))


def press(*keys):
    driver.switch_to.active_element.send_keys(*keys)


def focus():
    return driver.execute_script("const e = document.activeElement; return e.id || e.ariaLabel || e.tagName")


def tree():
    """(role, name) of every node of the accessibility tree."""
    nodes = driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    text = lambda node, key: node.get(key, {}).get("value", "")
    return [(text(n, "role"), text(n, "name")) for n in nodes if not n.get("ignored")]


try:
    driver.get(f"file://{sys.argv[1]}")
    order = []
    for _ in range(6):
        press(Keys.TAB)
        order.append(focus())
    assert order == ["gpu", "cuda", "torch", "python", "tool", "pinned"], order
    # Each list by its letters, as people without a mouse do.
    for name, keys in (("gpu", "A10,"), ("cuda", "12.4"), ("torch", "2.5"), ("python", "3.11"), ("tool", "pip")):
        driver.execute_script("document.getElementById(arguments[0]).focus()", name)
        press(keys)
    values = driver.execute_script("return ['gpu','cuda','torch','python','tool'].map(i => document.getElementById(i).value)")
    assert values == ["8.6", "12.4", "2.5", "3.11", "pip"], values
    press(Keys.TAB)
    assert focus() == "pinned", focus()
    press(Keys.TAB)
    assert focus() == "Copy the command for 3 packages", focus()
    press(Keys.TAB)
    assert focus() == "A", focus()  # the wheel itself
    press(Keys.TAB)
    assert focus().startswith("Copy the command for flash-attn"), focus()
    seen = driver.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert seen == "solid", f"where the focus is cannot be seen: {seen}"
    driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    press(Keys.ENTER)
    told = driver.execute_async_script(
        "const done = arguments[0]; setTimeout(() => done(document.getElementById('copied').textContent), 300)")
    assert told.startswith("Copied: flash-attn"), told
    copied = driver.execute_async_script("const done = arguments[0]; navigator.clipboard.readText().then(done, e => done('' + e))")
    shown = driver.execute_script("return document.querySelector('li code').textContent")
    assert copied == shown and "--index-url" in copied, (copied, shown)
    found = tree()
    for expected in (("combobox", "GPU"), ("combobox", "CUDA"), ("combobox", "torch"), ("combobox", "Python"),
                     ("combobox", "Installer"), ("checkbox", "Only this snapshot"), ("heading", "All of them at once"), ("heading", "Wheels for this choice"), ("heading", "Not for this choice")):
        assert any(role.lower() == expected[0] and name == expected[1] for role, name in found), (expected, found)
    assert any(role == "status" for role, _ in found), "what was copied is not announced"
    buttons = [name for role, name in found if role == "button"]
    assert buttons and len(set(buttons)) == len(buttons), buttons
    assert all(name for role, name in found if role in ("button", "link", "combobox")), found
    print("keyboard and screen reader:", len(buttons), "buttons,", copied)
finally:
    driver.quit()
