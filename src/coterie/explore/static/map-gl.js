// Points of the map as round sprites: one draw call by WebGL, or a plain canvas where there is none.

const VERTEX = `
precision highp float;
attribute vec2 at;
attribute vec4 colour;
attribute float topic;
uniform mat3 view;
uniform float size;
uniform float chosen;
uniform float dim;
uniform float strength;
varying vec4 shade;
varying float across;
void main() {
  vec3 spot = view * vec3(at, 1.0);
  gl_Position = vec4(spot.xy, 0.0, 1.0);
  bool ghost = topic < 0.0;
  bool lit = chosen < 0.0 || topic == chosen;
  across = ghost ? size * 0.8 : (chosen >= 0.0 && lit) ? size * 1.25 : size;
  gl_PointSize = across + 1.0;
  float alpha = ghost ? colour.a : colour.a * (lit ? strength : dim);
  shade = vec4(colour.rgb * alpha, alpha);
}`;

const FRAGMENT = `
precision mediump float;
varying vec4 shade;
varying float across;
void main() {
  float away = length(gl_PointCoord - 0.5) * (across + 1.0);
  float inside = 1.0 - smoothstep(across * 0.5 - 0.5, across * 0.5 + 0.5, away);
  if (inside <= 0.0) discard;
  gl_FragColor = shade * inside;
}`;

/** Give a painter for the canvas: load(points, shade of each point, colours of the shades, ghost), draw(look), lost(callback), destroy(), kind. */
export function createPainter(canvas) {
  const settings = { alpha: true, antialias: false, depth: false, stencil: false, powerPreference: "low-power" };
  const gl = canvas.getContext("webgl2", settings) || canvas.getContext("webgl", settings);
  if (gl) return new GlPainter(canvas, gl);
  return new PlainPainter(canvas, canvas.getContext("2d"));
}

/** Colours as bytes: those of the shades, `ghost` for points that no filter matches; confidence makes a point stronger. */
function tint(points, shades, colours, ghost) {
  const { topic, confidence } = points, n = topic.length, bytes = new Uint8Array(4 * n);
  for (let at = 0; at < n; at++) {
    const [red, green, blue] = topic[at] < 0 ? ghost : colours[shades[at]] || ghost;
    bytes[4 * at] = red;
    bytes[4 * at + 1] = green;
    bytes[4 * at + 2] = blue;
    bytes[4 * at + 3] = topic[at] < 0 ? ghost[3] : 170 + (confidence[at] * 85) / 255;
  }
  return bytes;
}

class GlPainter {
  constructor(canvas, gl) {
    Object.assign(this, { canvas, gl, kind: "webgl", count: 0, again: () => {} });
    this.prepare();
    this.onLost = (event) => event.preventDefault();
    this.onBack = () => { this.prepare(); if (this.kept) this.load(...this.kept); this.again(); };
    canvas.addEventListener("webglcontextlost", this.onLost);
    canvas.addEventListener("webglcontextrestored", this.onBack);
  }

  prepare() {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)
      && !gl.isContextLost()) throw new Error("the graphics driver rejected the shader");
    gl.useProgram(program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.uniforms = Object.fromEntries(["view", "size", "chosen", "dim", "strength"].map((name) => [name, gl.getUniformLocation(program, name)]));
    this.buffers = {};
    const parts = [["at", 2, gl.FLOAT, false, 8], ["colour", 4, gl.UNSIGNED_BYTE, true, 4], ["topic", 1, gl.FLOAT, false, 4]];
    this.parts = parts.map(([name, width, kind, normal, bytes]) => {
      const where = gl.getAttribLocation(program, name);
      this.buffers[name] = gl.createBuffer();
      gl.enableVertexAttribArray(where);
      return { name, where, width, kind, normal, bytes };
    });
    this.take(1);
  }

  /** Read every so-manieth point only: by a longer stride, without another buffer. */
  take(thin) {
    const gl = this.gl;
    this.thin = thin;
    for (const { name, where, width, kind, normal, bytes } of this.parts) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.vertexAttribPointer(where, width, kind, normal, bytes * thin, 0);
    }
  }

  load(points, shades, colours, ghost) {
    const gl = this.gl, n = points.topic.length, at = new Float32Array(2 * n);
    for (let each = 0; each < n; each++) {
      at[2 * each] = points.x[each];
      at[2 * each + 1] = points.y[each];
    }
    const put = (name, data) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    };
    put("at", at);
    put("colour", tint(points, shades, colours, ghost));
    put("topic", Float32Array.from(points.topic));
    this.count = n;
    this.kept = [points, shades, colours, ghost];
  }

  draw({ width, height, dense, matrix, size, chosen, dim, strength, thin = 1 }) {
    const gl = this.gl, [a, b, c, d, e, f] = matrix; // screen x = a·x + c·y + e, screen y = b·x + d·y + f
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!this.count) return;
    if (thin !== this.thin) this.take(thin);
    const right = 2 / width, up = -2 / height;
    gl.uniformMatrix3fv(this.uniforms.view, false, [a * right, b * up, 0, c * right, d * up, 0, e * right - 1, f * up + 1, 1]);
    gl.uniform1f(this.uniforms.size, size * dense);
    gl.uniform1f(this.uniforms.chosen, chosen);
    gl.uniform1f(this.uniforms.dim, dim);
    gl.uniform1f(this.uniforms.strength, strength);
    gl.drawArrays(gl.POINTS, 0, Math.floor(this.count / thin));
  }

  lost(again) {
    this.again = again;
  }

  destroy() {
    this.canvas.removeEventListener("webglcontextlost", this.onLost);
    this.canvas.removeEventListener("webglcontextrestored", this.onBack);
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

class PlainPainter {
  constructor(canvas, brush) {
    Object.assign(this, { canvas, brush, kind: "canvas", points: null });
  }

  load(points, shades, colours, ghost) {
    Object.assign(this, { points, shade: shades });
    const css = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;
    this.shades = colours.map(css);
    this.ghost = [css(ghost), ghost[3] / 255];
    const order = points.topic.map((_, at) => at);
    this.order = Uint32Array.from(order).sort((a, b) => points.topic[a] - points.topic[b] || shades[a] - shades[b]); // few changes of colour
  }

  draw({ width, height, dense, matrix, size, chosen, dim, strength, thin = 1 }) {
    const brush = this.brush, [a, b, c, d, e, f] = matrix;
    brush.setTransform(dense, 0, 0, dense, 0, 0);
    brush.clearRect(0, 0, width, height);
    if (!this.points) return;
    const { x, y, topic } = this.points;
    let last = null, shade = null;
    for (let each = 0; each < this.order.length; each += thin) {
      const at = this.order[each], left = a * x[at] + c * y[at] + e, top = b * x[at] + d * y[at] + f;
      if (left < -9 || top < -9 || left > width + 9 || top > height + 9) continue;
      if (topic[at] !== last || this.shade[at] !== shade) {
        [last, shade] = [topic[at], this.shade[at]];
        brush.fillStyle = last < 0 ? this.ghost[0] : this.shades[shade];
        brush.globalAlpha = last < 0 ? this.ghost[1] : chosen < 0 || last === chosen ? strength : dim;
      }
      if (size < 4.5 && this.order.length > 5000) { // squares: many times as fast, and hardly told from dots
        brush.fillRect(left - size * 0.45, top - size * 0.45, size * 0.9, size * 0.9);
        continue;
      }
      brush.beginPath();
      brush.arc(left, top, size / 2, 0, 2 * Math.PI);
      brush.fill();
    }
    brush.globalAlpha = 1;
  }

  lost() {}

  destroy() {}
}
