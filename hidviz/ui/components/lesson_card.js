// What a lesson says, its answers, and the way on and back.

export function render({ model }) {
  const press = (name) => () => model.send_msg({ press: name })
  const lessons = make("select", { "aria-label": _("Lesson") },
    ...model.lessons.map(([value, title]) => make("option", { value }, title)))
  lessons.addEventListener("change", () => model.send_msg({ begin: lessons.value }))
  const count = make("span", { class: "count" })
  const leave = button({ class: "leave", "aria-label": _("Leave the lesson"), title: _("Leave the lesson") }, press("leave"), "✕")
  const text = make("p", { "aria-live": "polite", tabindex: -1 })
  const answers = make("div", { class: "answers", role: "group", "aria-label": _("Answers") })
  const back = button({}, () => { if (!model.first) { press("back")() } }, _("Back")), next = button({ class: "next" }, () => { if (model.can_go_on) { press("next")() } }, _("Next"))
  const root = make("section", { class: "lesson", "aria-label": _("Lesson") },
    make("div", { class: "head" }, lessons, count, answers, back, next, leave), text)

  follow(model, ["key"], () => {
    root.hidden = !model.key
    if (model.key) { lessons.value = model.key }
  })
  follow(model, ["count"], () => say(count, model.count))
  follow(model, ["text"], () => {
    text.replaceChildren(...model.text.split("**").map((part, k) => k % 2 ? make("b", {}, part) : part))
  })
  const answered = () => {
    for (const each of answers.children) {
      set(each, { "aria-disabled": Boolean(model.answer) })
      each.setAttribute("aria-pressed", String(each.textContent === model.answer))
    }
  }
  follow(model, ["options"], () => {
    answers.replaceChildren(...model.options.map((option) => button({}, () => model.send_msg({ answer: option }), option)))
    answered()
  })
  model.on("answer", answered)
  follow(model, ["can_go_on", "last", "first"], () => {
    set(next, { "aria-disabled": !model.can_go_on }) // and not disabled, which would lose whoever is there by keyboard
    next.classList.toggle("primary", model.can_go_on)
    if (model.last && next.getRootNode().activeElement === next) { text.focus() }
    next.hidden = model.last
    set(back, { "aria-disabled": model.first })
  })
  return themed(model, root)
}
