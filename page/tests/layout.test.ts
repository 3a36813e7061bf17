import assert from "node:assert/strict";
import { test } from "node:test";
import { BEND, type Layout, layered } from "../src/layout";

function place(layout: Layout, name: string): [number, number] {
  const node = layout.nodes.find((node) => node.name === name);
  assert.ok(node, name);
  return [node.layer, node.place];
}

/** How many pairs of segments between neighbouring layers cross. */
function crossings(layout: Layout): number {
  const segments = layout.edges.flatMap((edge) => {
    const [start, end] = [place(layout, edge.from), place(layout, edge.to)];
    const points = [start, ...edge.bends.map((bend): [number, number] => [bend.layer, bend.place]), end];
    return points.slice(1).map((point, at) => [points[at], point] as [[number, number], [number, number]]);
  });
  let count = 0;
  segments.forEach(([a, b], i) =>
    segments.slice(0, i).forEach(([c, d]) => {
      if (a[0] === c[0] && (a[1] - c[1]) * (b[1] - d[1]) < -1e-9) count++;
    }),
  );
  return count;
}

function check(names: string[], arrows: [string, string][]): Layout {
  const layout = layered(names, arrows);
  for (const edge of layout.edges) {
    const [from, to] = [place(layout, edge.from), place(layout, edge.to)];
    assert.ok(from[0] < to[0], `${edge.from} stands left of ${edge.to}`);
    assert.equal(edge.bends.length, to[0] - from[0] - 1);
  }
  const items = [
    ...layout.nodes.map((node) => [node.layer, node.place, 1]),
    ...layout.edges.flatMap((edge) => edge.bends.map((bend) => [bend.layer, bend.place, BEND])),
  ] as [number, number, number][];
  items.forEach(([layer, at, room], i) =>
    items.slice(0, i).forEach(([other, place, otherRoom]) => {
      const apart = (room + otherRoom) / 2;
      if (layer === other) assert.ok(Math.abs(at - place) >= apart - 1e-9, "nothing stands on anything else");
    }),
  );
  // Nodes are half a place above and below their middles; the first one begins at half a place above zero.
  for (const [, at, room] of items) assert.ok(at - room / 2 >= -0.5 - 1e-9 && at + room / 2 <= layout.height - 0.5 + 1e-9);
  return layout;
}

test("a chain is a line", () => {
  const layout = check(["c", "b", "a"], [["a", "b"], ["b", "c"]]);
  assert.deepEqual([place(layout, "a"), place(layout, "b"), place(layout, "c")], [[0, 0], [1, 0], [2, 0]]);
  assert.equal(layout.height, 1);
});

test("an edge over a layer bends beside what stands there", () => {
  const layout = check(["education", "income", "savings"], [
    ["education", "income"],
    ["education", "savings"],
    ["income", "savings"],
  ]);
  assert.equal(layout.layers, 3);
  const bend = layout.edges.find((edge) => edge.to === "savings" && edge.from === "education")?.bends[0];
  assert.notEqual(bend?.place, place(layout, "income")[1]);
});

test("crossings that can be avoided are avoided", () => {
  const layout = check(["a", "b", "c", "x", "y", "z"], [["a", "z"], ["b", "y"], ["c", "x"]]);
  assert.equal(crossings(layout), 0);
});

test("what has neither causes nor effects has a place", () => {
  const layout = check(["a", "b", "alone"], [["a", "b"]]);
  assert.equal(place(layout, "alone")[0], 0);
});

test("random graphs of up to 24 features keep every rule", () => {
  let state = 1;
  const draw = () => (state = (state * 48271) % 2147483647) / 2147483647;
  for (let round = 0; round < 60; round++) {
    const count = 3 + Math.floor(22 * draw());
    const names = Array.from({ length: count }, (_, at) => `f${at}`);
    const arrows: [string, string][] = [];
    for (let to = 1; to < count; to++) {
      for (let from = 0; from < to; from++) {
        if (draw() < 2 / count) arrows.push([`f${from}`, `f${to}`]);
      }
    }
    check(names, arrows);
  }
});

test("an arrow to an unknown feature is left out", () => {
  assert.equal(check(["a", "b"], [["a", "b"], ["a", "c"]]).edges.length, 1);
});
