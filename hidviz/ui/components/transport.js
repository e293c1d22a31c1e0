// What starts, stops and paces a run; and its numbers, with how far long work has come.

export function render({ model }) {
  const labelled = ({ icon, name, help }) =>
    button({ title: help, "data-name": name }, () => model.send_msg({ press: name }), pictured(icon), make("span", {}, name))

  const go = button({ class: "go primary" }, () => model.send_msg({ press: model.toggle[Number(model.running)].name }))
  const others = model.items.map((item) => labelled(item))
  const first = others.filter((_, k) => !model.items[k].fresh), fresh = others.filter((_, k) => model.items[k].fresh)
  const speed = make("select", { "aria-label": _("Speed"), title: _("How fast a run goes on; drawing keeps its own pace") },
    ...model.speeds.map(([value, text]) => make("option", { value }, text)))
  speed.addEventListener("change", () => model.send_msg({ speed: speed.value }))
  const text = make("div", { class: "numbers" })
  const bar = make("div", { class: "bar" }), track = make("div", { class: "track", role: "progressbar" }, bar)
  const root = make("div", { class: "of-run", role: "group", "aria-label": _("The run") },
    make("div", { class: "group" }, go, ...first, speed), make("div", { class: "group" }, ...fresh),
    make("div", { class: "reading" }, text, track))

  follow(model, ["running"], () => {
    const { icon, name, help } = model.toggle[Number(model.running)]
    set(go, { title: help, "data-name": name })
    go.replaceChildren(pictured(icon), make("span", {}, name))
  })
  follow(model, ["absent", "bare"], () => {
    others.forEach((each) => { each.hidden = model.bare || model.absent.includes(each.dataset.name) })
    speed.hidden = model.bare
  })
  follow(model, ["speed"], () => { speed.value = model.speed })
  follow(model, ["text"], () => say(text, model.text))
  follow(model, ["percent"], () => {
    track.style.visibility = model.percent < 0 ? "hidden" : "visible"
    set(track, { "aria-label": model.text, "aria-valuenow": model.percent })
    bar.style.width = `${Math.max(0, model.percent)}%`
  })
  return themed(model, root)
}
