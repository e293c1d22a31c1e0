// What a lecturer prepares: a lesson, what the class does not need, and the links, the code and the sheet for it.

const HERE = /^(localhost|127\.|\[::1\])/ // addresses that mean another machine on each

export function render({ model }) {
  const lesson = make("select", { "aria-label": _("Lesson to teach") }, ...model.lessons.map(([value, title]) => make("option", { value }, title)))
  const box = (value, text) => {
    const input = make("input", { type: "checkbox", value })
    return [input, make("label", {}, input, text)]
  }
  const boxes = model.groups.map(([name, text]) => box(name, text))
  const [lock, locking] = box("lock", _("Lock: the class cannot bring them back"))
  const [mine, theirs] = [_("The lecturer's link"), _("The link of the class")].map((label) =>
    make("input", { type: "text", readonly: "", "aria-label": label }))
  const code = make("div", { class: "code", role: "img", "aria-label": _("The link of the class as a QR code") })
  const copy = (field) => button({}, async (event) => {
    const press = event.currentTarget
    field.select()
    const copied = await (navigator.clipboard?.writeText(field.value).then(() => true, () => false) ?? false)
    say(press, copied ? _("Copied") : _("Press Ctrl+C"))
    setTimeout(() => say(press, _("Copy")), 2000)
  }, _("Copy"))
  const go = button({ class: "primary" }, () => location.assign(mine.value), _("Open for the lecture"))
  const print = button({}, () => {
    const url = URL.createObjectURL(new Blob([model.page], { type: "text/html" }))
    window.open(url, "_blank")
    setTimeout(() => URL.revokeObjectURL(url), 60_000)
  }, _("Handout to print"))
  const close = button({}, () => sheet.close(), _("Close"))
  const preparing = [
    make("h2", {}, _("Teach with this page")),
    make("label", { class: "lesson" }, _("Lesson to teach"), lesson),
    make("fieldset", {}, make("legend", {}, _("For the class")), ...boxes.map(([, label]) => label), locking),
    make("p", {}, _("For you: larger, for a projector; the arrow keys go through the lesson.")),
    make("div", { class: "link" }, mine, copy(mine)),
  ]
  const sheet = make("dialog", {}, ...preparing,
    make("p", { class: "theirs" }, _("For the class: to scan, or to type.")),
    make("div", { class: "link" }, theirs, copy(theirs)),
    ...HERE.test(location.hostname) ? [make("p", { class: "here" },
      _("This address means each one's own machine. For a class open the page by the name of this machine in the network, and start it with hidviz serve --address."))] : [],
    code,
    make("div", { class: "acts" }, go, print, close))

  const all = [lock, ...boxes.map(([input]) => input)]
  const wish = () => model.send_msg({
    wish: { lesson: lesson.value, hide: boxes.filter(([input]) => input.checked).map(([input]) => input.value),
      lock: lock.checked },
    place: location.origin + location.pathname,
  })
  for (const input of all) { input.checked = model.prepared.includes(input.value) }
  for (const input of [lesson, ...all]) { input.addEventListener("change", wish) }
  sheet.addEventListener("close", () => model.send_msg({ closed: true }))
  model.on("open", () => {
    if (model.open && !sheet.open) {
      lesson.value = model.lesson
      for (const each of [...preparing, go, print]) { each.hidden = model.code_alone }
      sheet.classList.toggle("alone", model.code_alone)
      sheet.style.zoom = model.code_alone ? String(1 / (sheet.parentElement?.currentCSSZoom ?? 1)) : "" // as large as the window has it
      set(sheet, { "aria-label": model.code_alone ? _("Code for the class") : _("Teach with this page") })
      sheet.showModal()
      wish()
    } else if (!model.open && sheet.open) { sheet.close() }
  })
  follow(model, ["lecture_link", "class_link"], () => {
    mine.value = model.lecture_link
    theirs.value = model.class_link
  })
  follow(model, ["code"], () => { code.innerHTML = model.code }) // drawn by the page itself
  return themed(model, sheet)
}
