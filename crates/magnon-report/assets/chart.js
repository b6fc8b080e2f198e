// Values under the pointer, by keyboard too, and the slider of charts that have several states.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const tip = document.getElementById("tip");

  const number = (value) => {
    const size = Math.abs(value);
    const text = size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential(3) : String(Number(value.toPrecision(5)));
    return text.replace("-", "\u2212");
  };

  // The tip beside a point of the window, inside the page.
  const show = (text, x, y) => {
    if (tip.textContent !== text) tip.textContent = text;
    tip.hidden = false;
    const room = document.documentElement.clientWidth;
    const wide = tip.offsetWidth, high = tip.offsetHeight;
    const left = x + 14 + wide > room - 8 ? Math.max(8, x - 14 - wide) : x + 14;
    const top = y - high - 12 < 0 ? y + 18 : y - high - 12;
    tip.style.left = left + scrollX + "px";
    tip.style.top = top + scrollY + "px";
  };
  const hide = () => { tip.hidden = true; };
  window.magnonTip = { show, hide };

  const pair = (text) => text.split(",").map(Number);
  // The axes of a drawn panel: pixels and values.
  const axes = (group) => {
    const [px0, px1] = pair(group.dataset.px), [py0, py1] = pair(group.dataset.py);
    const [dx0, dx1] = pair(group.dataset.dx), [dy0, dy1] = pair(group.dataset.dy);
    return {
      px0, px1, py0, py1,
      x: (value) => px0 + (value - dx0) / (dx1 - dx0) * (px1 - px0),
      y: (value) => py0 + (value - dy0) / (dy1 - dy0) * (py1 - py0),
      inverseX: (pixel) => dx0 + (pixel - px0) / (px1 - px0) * (dx1 - dx0),
      inverseY: (pixel) => dy0 + (pixel - py0) / (py1 - py0) * (dy1 - dy0),
    };
  };

  const path = (points, axis, dots) => {
    let out = "", joined = false;
    for (let i = 0; i < points.length; i += 2) {
      const a = points[i], b = points[i + 1];
      if (a === null || b === null) { joined = false; continue; }
      const x = axis.x(a).toFixed(2), y = axis.y(b).toFixed(2);
      out += dots ? `M${x} ${y}m-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0-5.2 0z` : (joined ? "L" : "M") + x + " " + y;
      joined = true;
    }
    return out;
  };

  // The place in x, y, x, y, … whose coordinate is nearest.
  const nearest = (points, by, value) => {
    let best = -1, distance = Infinity;
    for (let i = 0; i < points.length; i += 2) {
      if (points[i] === null || points[i + 1] === null) continue;
      const here = Math.abs(points[i + by] - value);
      if (here < distance) { distance = here; best = i; }
    }
    return best;
  };

  const chart = (box) => {
    const data = JSON.parse(box.querySelector("script").textContent);
    let panel = 0, step = -1, cursor = null;
    const drawn = () => [...box.querySelectorAll("svg")].find((svg) => svg.getBoundingClientRect().width > 0);
    const group = (svg, index) => svg.querySelector(`g[data-panel="${index}"]`);
    const clear = () => { if (cursor) cursor.remove(); cursor = null; hide(); };

    // The cursor at a value of the panel's own axis, and the values of all series there.
    const point = (svg, index, value) => {
      const about = data.panels[index], by = about.along === "y" ? 1 : 0;
      const holder = group(svg, index), axis = axes(holder);
      const lines = [];
      if (cursor) cursor.remove();
      cursor = document.createElementNS(SVG, "g");
      let place = null, top = Infinity;
      for (const series of about.series) {
        if (series.dots) continue;
        const at = nearest(series.points, by, value);
        if (at < 0) continue;
        const x = series.points[at], y = series.points[at + 1];
        if (place === null) place = by ? y : x;
        const dot = document.createElementNS(SVG, "circle");
        dot.setAttribute("class", series.slot === null ? "muted" : `fill s${series.slot}`);
        dot.setAttribute("cx", axis.x(x)); dot.setAttribute("cy", axis.y(y)); dot.setAttribute("r", 3.5);
        cursor.append(dot);
        top = Math.min(top, axis.y(y));
        const other = by ? x : y;
        lines.push(about.series.length > 1 ? `${series.name}: ${number(other)}` : number(other));
      }
      if (place === null) { clear(); return; }
      const line = document.createElementNS(SVG, "path");
      line.setAttribute("class", "cursor");
      line.setAttribute("d", by ? `M${axis.px0} ${axis.y(place)}H${axis.px1}` : `M${axis.x(place)} ${axis.py0}V${axis.py1}`);
      cursor.prepend(line);
      holder.append(cursor);
      const label = by ? about.y || "\u03bb" : about.x;
      const spot = new DOMPoint(by ? axis.px1 : axis.x(place), by ? axis.y(place) : top).matrixTransform(svg.getScreenCTM());
      show(`${label} ${number(place)}\n${lines.join("\n")}`, spot.x, spot.y);
    };

    box.addEventListener("pointermove", (event) => {
      const svg = drawn();
      if (!svg) return;
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      for (let index = 0; index < data.panels.length; index++) {
        const axis = axes(group(svg, index));
        const inside = at.x >= axis.px0 - 6 && at.x <= axis.px1 + 6 && at.y <= axis.py0 + 6 && at.y >= axis.py1 - 6;
        if (!inside) continue;
        point(svg, index, data.panels[index].along === "y" ? axis.inverseY(at.y) : axis.inverseX(at.x));
        return;
      }
      clear();
    });
    box.addEventListener("pointerleave", clear);
    box.addEventListener("blur", clear);
    box.addEventListener("keydown", (event) => {
      const svg = drawn();
      if (!svg || event.target !== box) return;
      const lead = () => data.panels[panel].series.find((one) => !one.dots && one.points.length > 0);
      const series = lead();
      const count = series ? series.points.length / 2 : 0;
      const stride = event.shiftKey ? Math.max(1, Math.round(count / 20)) : 1;
      if (event.key === "ArrowRight") step = Math.min(count - 1, step + stride);
      else if (event.key === "ArrowLeft") step = Math.max(0, step - stride);
      else if (event.key === "Home") step = 0;
      else if (event.key === "End") step = count - 1;
      else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
        if (data.panels.length === 1) return;
        panel = (panel + 1) % data.panels.length;
        step = 0;
      } else if (event.key === "Escape") { clear(); return; } else return;
      event.preventDefault();
      const now = lead();
      if (now) point(svg, panel, now.points[2 * Math.max(0, step) + (data.panels[panel].along === "y" ? 1 : 0)]);
    });

    const slider = box.parentElement.querySelector(".slider input");
    if (!slider || !data.frames) return;
    const output = box.parentElement.querySelector(".slider output");
    const turn = () => {
      const frame = data.frames[Number(slider.value)];
      output.textContent = frame.label;
      slider.setAttribute("aria-valuetext", frame.label);
      clear();
      frame.panels.forEach((lists, index) => lists.forEach((points, place) => {
        const series = data.panels[index].series[place];
        series.points = points;
        for (const svg of box.querySelectorAll("svg")) {
          const holder = group(svg, index);
          const line = holder.querySelector(`[data-series="${place}"]`);
          if (line) line.setAttribute("d", path(points, axes(holder), series.dots));
        }
      }));
    };
    slider.addEventListener("input", turn);
    // A browser may bring back the place of the slider from the last visit.
    if (slider.value !== slider.defaultValue) turn();
  };

  const grid = (box) => {
    const cells = () => {
      const svg = [...box.querySelectorAll("svg")].find((one) => one.getBoundingClientRect().width > 0);
      return svg ? [...svg.querySelectorAll(".cell")] : [];
    };
    let at = -1;
    const leave = () => { box.querySelectorAll(".cell.at").forEach((cell) => cell.classList.remove("at")); hide(); };
    const enter = (cell) => {
      leave();
      cell.classList.add("at");
      const spot = cell.getBoundingClientRect();
      show(cell.dataset.tip, spot.left + spot.width / 2, spot.top);
    };
    box.addEventListener("pointermove", (event) => {
      const cell = event.target.closest(".cell");
      if (cell) enter(cell); else leave();
    });
    box.addEventListener("pointerleave", leave);
    box.addEventListener("blur", leave);
    box.addEventListener("keydown", (event) => {
      const all = cells(), side = Math.round(Math.sqrt(all.length));
      const move = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: side, ArrowUp: -side }[event.key];
      if (event.key === "Escape") leave();
      if (!move || all.length === 0) return;
      event.preventDefault();
      at = at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + move));
      enter(all[at]);
    });
  };

  document.querySelectorAll(".chart").forEach(chart);
  document.querySelectorAll("div.matrix").forEach(grid);
})();
