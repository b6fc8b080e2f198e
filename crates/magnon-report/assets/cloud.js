// The eigenmap on a canvas: turned by mouse, finger and keys; and the circle of phases beside it.
"use strict";
(() => {
  const MOVING_EDGES = 4000; // While it turns, fewer edges keep it smooth.
  const DEPTHS = 5; // Farther nodes are fainter, in so many steps.

  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;

  const cloud = (box) => {
    const data = JSON.parse(box.querySelector("script").textContent);
    const map = box.querySelector("canvas.map"), circle = box.querySelector("canvas.circle");
    const count = data.count;
    const whole = new Uint16Array(bytes(data.positions));
    const labels = new Uint16Array(bytes(data.labels));
    const edges = new Uint32Array(bytes(data.edges));
    const phases = new Uint16Array(bytes(data.phases));
    const place = Float32Array.from(whole, (value) => value / 32767.5 - 1);
    // Where a few nodes lie far out, the frame is for the others.
    const median = [0, 1, 2].map((axis) => {
      const values = Float32Array.from({ length: count }, (_, i) => place[3 * i + axis]).sort();
      const middle = values[count >> 1], most = Math.floor(0.99 * (count - 1));
      const half = Math.max(values[most] - middle, middle - values[count - 1 - most]);
      const widest = Math.max(values[count - 1] - middle, middle - values[0]);
      return { middle, stretched: half > 0 && widest > 3 * half };
    });
    const stretched = median.slice(0, 2).some((axis) => axis.stretched);
    if (stretched) {
      for (let i = 0; i < 3 * count; i++) place[i] -= median[i % 3].middle;
      const hint = box.querySelector(".hint");
      hint.textContent += " The frame holds 99\u00a0% of the nodes; zoom out for the others.";
    }
    let farthest = 1;
    for (let i = 0; i < 3 * count && !data.flat; i += 3) {
      farthest = Math.max(farthest, Math.hypot(place[i], place[i + 1], place[i + 2]));
    }
    const screen = new Float32Array(2 * count);
    const depth = new Uint8Array(count);
    const order = new Uint32Array(count);
    const radius = Math.min(4.5, Math.max(1.5, 90 / Math.sqrt(count)));
    const start = { yaw: 0, pitch: 0, zoom: 1, x: 0, y: 0 };
    const view = { ...start };
    const layer = document.createElement("canvas");
    let markers = [], quiet = "", lineColour = "", pending = 0, rest = 0;

    // A marker of each class, drawn once in the colours of the theme and kept as its pixels: writing
    // them ourselves is many times faster than asking the canvas for 20,000 little pictures.
    const paint = () => {
      const style = getComputedStyle(box);
      const scale = radius * (devicePixelRatio || 1), side = Math.ceil(3.2 * scale);
      quiet = style.getPropertyValue("--muted");
      lineColour = style.getPropertyValue("--line");
      const sprite = Object.assign(document.createElement("canvas"), { width: side, height: side });
      const pen = sprite.getContext("2d", { willReadFrequently: true });
      markers = data.outlines.map((outline, index) => {
        pen.setTransform(1, 0, 0, 1, 0, 0);
        pen.clearRect(0, 0, side, side);
        pen.setTransform(scale / 10, 0, 0, scale / 10, side / 2, side / 2);
        pen.fillStyle = style.getPropertyValue(`--s${index % 7}`);
        pen.fill(new Path2D("M0 0" + outline));
        const pixels = new Uint32Array(pen.getImageData(0, 0, side, side).data.buffer);
        const inked = [...pixels.keys()].filter((at) => pixels[at] >>> 24 > 8);
        const faded = (depth) => inked.map((at) => {
          const alpha = (pixels[at] >>> 24) * (data.flat ? 0.9 : 0.4 + 0.55 * depth / (DEPTHS - 1));
          return (pixels[at] & 0xffffff) | Math.round(alpha) << 24;
        });
        return {
          dx: Int16Array.from(inked, (at) => at % side - (side >> 1)),
          dy: Int16Array.from(inked, (at) => Math.floor(at / side) - (side >> 1)),
          colours: Array.from({ length: DEPTHS }, (_, depth) => Uint32Array.from(faded(depth))),
        };
      });
    };

    // Puts the markers of all nodes on the sheet, in the order given. The stronger pixel wins, so that
    // soft edges stay soft on the ground and do not eat into a marker below.
    const stamp = (pen, where, far) => {
      const width = pen.canvas.width, height = pen.canvas.height, dense = devicePixelRatio || 1;
      const image = new ImageData(width, height);
      const pixels = new Uint32Array(image.data.buffer);
      for (let k = 0; k < count; k++) {
        const i = order[k], marker = markers[labels[i]];
        const colours = marker.colours[far ? depth[i] : DEPTHS - 1];
        const x = Math.round(where[2 * i] * dense), y = Math.round(where[2 * i + 1] * dense);
        for (let p = 0; p < colours.length; p++) {
          const px = x + marker.dx[p], py = y + marker.dy[p];
          if (px < 0 || py < 0 || px >= width || py >= height) continue;
          const at = py * width + px;
          if (colours[p] >>> 24 >= pixels[at] >>> 24) pixels[at] = colours[p];
        }
      }
      if (layer.width !== width || layer.height !== height) Object.assign(layer, { width, height });
      layer.getContext("2d").putImageData(image, 0, 0);
      pen.drawImage(layer, 0, 0, width / dense, height / dense);
    };

    const sheet = (canvas) => {
      const dense = devicePixelRatio || 1;
      const wide = canvas.clientWidth, high = canvas.clientHeight;
      const width = Math.max(1, Math.round(wide * dense)), height = Math.max(1, Math.round(high * dense));
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
      const pen = canvas.getContext("2d");
      pen.setTransform(dense, 0, 0, dense, 0, 0);
      pen.clearRect(0, 0, wide, high);
      return { pen, wide, high };
    };

    const project = (wide, high) => {
      const cy = Math.cos(view.yaw), sy = Math.sin(view.yaw), cp = Math.cos(view.pitch), sp = Math.sin(view.pitch);
      const middleX = wide / 2 + view.x, middleY = high / 2 + view.y;
      // Whichever way it is turned, it fills the frame.
      const stride = stretched ? Math.ceil(count / 2000) : 1, seen = Math.ceil(count / stride);
      const across = new Float32Array(seen), upright = new Float32Array(seen);
      for (let i = 0, k = 0; i < count; i += stride, k++) {
        const x = place[3 * i], y = place[3 * i + 1], z = place[3 * i + 2];
        across[k] = Math.abs(cy * x + sy * z);
        upright[k] = Math.abs(cp * y - sp * (cy * z - sy * x));
      }
      const most = (list) => stretched ? list.sort()[Math.floor(0.99 * (seen - 1))] : list.reduce((a, b) => Math.max(a, b), 0);
      const fit = (room, list) => (room / 2 - 14) / Math.max(1e-5, most(list));
      const reach = Math.min(fit(wide, across), fit(high, upright)) * view.zoom;
      for (let i = 0; i < count; i++) {
        const x = place[3 * i], y = place[3 * i + 1], z = place[3 * i + 2];
        const turned = cy * x + sy * z, far = cy * z - sy * x;
        const up = cp * y - sp * far, near = sp * y + cp * far;
        screen[2 * i] = middleX + reach * turned;
        screen[2 * i + 1] = middleY - reach * up;
        depth[i] = data.flat ? DEPTHS - 1 : Math.max(0, Math.min(DEPTHS - 1, Math.floor((near / farthest + 1) / 2 * DEPTHS)));
      }
    };

    // Nodes from far to near, by counting.
    const sort = () => {
      const starts = new Uint32Array(DEPTHS + 1);
      for (let i = 0; i < count; i++) starts[depth[i] + 1]++;
      for (let d = 0; d < DEPTHS; d++) starts[d + 1] += starts[d];
      for (let i = 0; i < count; i++) order[starts[depth[i]]++] = i;
    };

    const draw = (moving) => {
      const { pen, wide, high } = sheet(map);
      if (wide < 40 || high < 40) return;
      project(wide, high);
      sort();
      const total = edges.length / 2;
      const stride = moving ? Math.max(1, Math.ceil(total / MOVING_EDGES)) : 1;
      pen.globalAlpha = Math.min(0.45, Math.max(0.025, 500 / Math.max(1, total)) * Math.sqrt(stride));
      pen.strokeStyle = quiet;
      pen.lineWidth = 0.7;
      pen.beginPath();
      for (let e = 0; e < total; e += stride) {
        const a = 2 * edges[2 * e], b = 2 * edges[2 * e + 1];
        pen.moveTo(screen[a], screen[a + 1]);
        pen.lineTo(screen[b], screen[b + 1]);
      }
      pen.stroke();
      pen.globalAlpha = 1;
      stamp(pen, screen, true);
      compass(pen, high);
    };

    // The three axes in a corner, turning with the cloud.
    const compass = (pen, high) => {
      const cy = Math.cos(view.yaw), sy = Math.sin(view.yaw), cp = Math.cos(view.pitch), sp = Math.sin(view.pitch);
      const ways = [[cy, sy * sp], [0, cp], [sy, -cy * sp]];
      pen.font = "12px system-ui, sans-serif";
      pen.textBaseline = "middle";
      pen.strokeStyle = pen.fillStyle = quiet;
      pen.lineWidth = 1;
      ways.slice(0, data.flat ? 2 : 3).forEach(([x, y], axis) => {
        if (Math.hypot(x, y) < 0.15) return;
        const from = [34, high - 34];
        pen.beginPath();
        pen.moveTo(from[0], from[1]);
        pen.lineTo(from[0] + 22 * x, from[1] - 22 * y);
        pen.stroke();
        pen.textAlign = x < -0.3 ? "right" : x > 0.3 ? "left" : "center";
        pen.fillText(data.axes[axis], from[0] + 28 * x, from[1] - 31 * y);
      });
    };

    const ring = () => {
      if (!circle) return;
      const { pen, wide, high } = sheet(circle);
      const reach = Math.min(wide, high) / 2 - 22, x = wide / 2, y = high / 2;
      if (reach < 10) return;
      pen.strokeStyle = lineColour;
      pen.beginPath();
      pen.arc(x, y, reach, 0, 2 * Math.PI);
      pen.moveTo(x - reach, y); pen.lineTo(x + reach, y);
      pen.moveTo(x, y - reach); pen.lineTo(x, y + reach);
      pen.stroke();
      const rings = Math.max(1, data.classes.length);
      const where = new Float32Array(2 * count);
      for (let i = 0; i < count; i++) {
        const angle = phases[i] / 65536 * 2 * Math.PI, out = reach * (0.45 + 0.5 * (labels[i] + 0.5) / rings);
        where[2 * i] = x + out * Math.cos(angle);
        where[2 * i + 1] = y - out * Math.sin(angle);
      }
      stamp(pen, where, false);
      pen.fillStyle = quiet;
      pen.font = "12px system-ui, sans-serif";
      pen.textBaseline = "middle";
      pen.textAlign = "left"; pen.fillText("0", x + reach + 5, y);
      pen.textAlign = "right"; pen.fillText("\u03c0", x - reach - 5, y);
      pen.textAlign = "center"; pen.fillText("\u03c0/2", x, y - reach - 9); pen.fillText("3\u03c0/2", x, y + reach + 10);
    };

    const soon = (moving) => {
      cancelAnimationFrame(pending);
      pending = requestAnimationFrame(() => draw(moving));
      clearTimeout(rest);
      if (moving) rest = setTimeout(() => soon(false), 160);
    };
    const everything = () => { paint(); draw(false); ring(); };

    const turn = (right, up) => {
      if (data.flat) { view.x += 60 * right; view.y -= 60 * up; } else {
        view.yaw += right;
        view.pitch = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, view.pitch - up));
      }
      soon(true);
    };
    const zoom = (factor) => { view.zoom = Math.min(40, Math.max(0.3, view.zoom * factor)); soon(true); };

    let held = null;
    map.addEventListener("pointerdown", (event) => {
      held = { x: event.clientX, y: event.clientY };
      map.setPointerCapture(event.pointerId);
    });
    const release = () => { held = null; };
    map.addEventListener("pointerup", release);
    map.addEventListener("pointercancel", release);
    map.addEventListener("pointermove", (event) => {
      if (held) {
        const rate = data.flat ? 1 / 60 : 0.008;
        turn((event.clientX - held.x) * rate, (held.y - event.clientY) * rate);
        held = { x: event.clientX, y: event.clientY };
        window.magnonTip.hide();
        return;
      }
      const frame = map.getBoundingClientRect();
      const x = event.clientX - frame.left, y = event.clientY - frame.top;
      let best = -1, distance = 100;
      for (let i = 0; i < count; i++) {
        const here = (screen[2 * i] - x) ** 2 + (screen[2 * i + 1] - y) ** 2;
        if (here < distance) { distance = here; best = i; }
      }
      if (best < 0) { window.magnonTip.hide(); return; }
      const name = data.names.length ? data.names[best] : `node ${best}`;
      const label = data.classes.length > 1 ? `\n${data.classes[labels[best]]}` : "";
      window.magnonTip.show(name + label, event.clientX, event.clientY);
    });
    map.addEventListener("pointerleave", () => window.magnonTip.hide());
    map.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 200));
    }, { passive: false });
    map.addEventListener("keydown", (event) => {
      const step = event.shiftKey ? 0.35 : 0.09;
      if (event.key === "ArrowRight") turn(step, 0);
      else if (event.key === "ArrowLeft") turn(-step, 0);
      else if (event.key === "ArrowUp") turn(0, step);
      else if (event.key === "ArrowDown") turn(0, -step);
      else if (event.key === "+" || event.key === "=") zoom(1.25);
      else if (event.key === "-") zoom(0.8);
      else if (event.key === "0") { Object.assign(view, start); soon(false); } else return;
      event.preventDefault();
    });

    const legend = box.querySelector(".legend");
    if (data.classes.length > 1) data.classes.forEach((name, index) => {
      const item = document.createElement("span");
      const mark = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      mark.setAttribute("viewBox", "-14 -14 28 28");
      mark.setAttribute("aria-hidden", "true");
      const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
      shape.setAttribute("class", `fill s${index % 7}`);
      shape.setAttribute("d", "M0 0" + data.outlines[index]);
      mark.append(shape);
      const text = document.createElement("bdi");
      text.textContent = name;
      item.title = name;
      item.append(mark, text);
      legend.append(item);
    });

    for (const query of ["(prefers-color-scheme: dark)", "print"]) {
      matchMedia(query).addEventListener("change", everything);
    }
    paint();
    new ResizeObserver(everything).observe(map);
  };

  document.querySelectorAll(".cloud").forEach(cloud);
})();
