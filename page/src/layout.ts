// A layered layout of a causal graph: causes stand left of what follows from them.

export interface Node {
  name: string;
  /** The layer, from the left: the longest path of causes that leads here. */
  layer: number;
  /** The place within the layer, from the top; places of different layers share a scale. */
  place: number;
}

export interface Edge {
  from: string;
  to: string;
  /** Where the edge passes through the layers between its ends, as places. */
  bends: { layer: number; place: number }[];
}

export interface Layout {
  nodes: Node[];
  edges: Edge[];
  layers: number;
  /** The greatest place plus one. */
  height: number;
}

/** Something that has a place in a layer: a node, or the bend of an edge that passes through. */
interface Item {
  layer: number;
  /** The room that it takes across: one place for a node, less for a bend. */
  room: number;
  /** The places of what it is connected with in the layer before and after. */
  before: Item[];
  after: Item[];
  place: number;
}

const SWEEPS = 12;
/** The room of a bend, as a share of a place. */
export const BEND = 0.3;

/**
 * The layout of a graph without cycles. Layers are longest paths, so that every edge leads to the right; edges over
 * several layers get a bend in each of them. Barycentre sweeps order the layers, and the order with the fewest
 * crossings counts. Nodes without causes stand in the layer just before the first thing that follows from them.
 */
export function layered(names: string[], arrows: [string, string][]): Layout {
  const known = new Set(names);
  const pairs = arrows.filter(([from, to]) => known.has(from) && known.has(to) && from !== to);
  const layerOf = layersOf(names, pairs);
  const items = new Map<string, Item>();
  const layers: Item[][] = [];
  const add = (layer: number, room: number): Item => {
    const item: Item = { layer, room, before: [], after: [], place: 0 };
    (layers[layer] ??= []).push(item);
    return item;
  };
  for (const name of names) items.set(name, add(layerOf.get(name) ?? 0, 1));
  const routes = pairs.map(([from, to]) => {
    const [start, end] = [items.get(from) as Item, items.get(to) as Item];
    const bends: Item[] = [];
    let last = start;
    for (let layer = start.layer + 1; layer < end.layer; layer++) {
      const bend = add(layer, BEND);
      connect(last, bend);
      bends.push(bend);
      last = bend;
    }
    connect(last, end);
    return { from, to, bends };
  });
  order(layers);
  spread(layers);
  const height = Math.max(1, ...layers.flat().map((item) => item.place + (1 + item.room) / 2));
  return {
    nodes: names.map((name) => {
      const item = items.get(name) as Item;
      return { name, layer: item.layer, place: item.place };
    }),
    edges: routes.map(({ from, to, bends }) => ({
      from,
      to,
      bends: bends.map(({ layer, place }) => ({ layer, place })),
    })),
    layers: layers.length,
    height,
  };
}

function connect(from: Item, to: Item): void {
  from.after.push(to);
  to.before.push(from);
}

/** The layer of every node: the longest path to it; roots move right up to their first effect. */
function layersOf(names: string[], pairs: [string, string][]): Map<string, number> {
  const layer = new Map(names.map((name) => [name, 0]));
  // A graph without cycles is settled after as many rounds as it has nodes.
  for (let round = 0; round < names.length; round++) {
    for (const [from, to] of pairs) {
      layer.set(to, Math.max(layer.get(to) ?? 0, Math.min(names.length - 1, (layer.get(from) ?? 0) + 1)));
    }
  }
  for (const name of names) {
    const effects = pairs.filter(([from]) => from === name).map(([, to]) => layer.get(to) ?? 0);
    const isRoot = !pairs.some(([, to]) => to === name);
    if (isRoot && effects.length > 0) layer.set(name, Math.min(...effects) - 1);
  }
  return layer;
}

/** Orders the items of every layer so that few edges cross. */
function order(layers: Item[][]): void {
  const number = () => layers.forEach((layer) => layer.forEach((item, place) => (item.place = place)));
  number();
  let best = layers.map((layer) => [...layer]);
  let fewest = crossings(layers);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const isForward = sweep % 2 === 0;
    const walk = isForward ? layers : [...layers].reverse();
    for (const layer of walk) {
      const weight = new Map(layer.map((item) => [item, barycentre(isForward ? item.before : item.after, item.place)]));
      layer.sort((a, b) => (weight.get(a) ?? 0) - (weight.get(b) ?? 0) || a.place - b.place);
      layer.forEach((item, place) => (item.place = place));
    }
    const found = crossings(layers);
    if (found < fewest) {
      fewest = found;
      best = layers.map((layer) => [...layer]);
    }
  }
  best.forEach((layer, at) => (layers[at] = layer));
  number();
}

function barycentre(neighbours: Item[], otherwise: number): number {
  if (neighbours.length === 0) return otherwise;
  return neighbours.reduce((sum, item) => sum + item.place, 0) / neighbours.length;
}

/** How many pairs of edges between neighbouring layers cross. */
function crossings(layers: Item[][]): number {
  let count = 0;
  for (const layer of layers) {
    const edges = layer.flatMap((from) => from.after.map((to) => [from.place, to.place] as const));
    for (let i = 0; i < edges.length; i++) {
      for (let j = 0; j < i; j++) {
        const [a, b] = [edges[i], edges[j]];
        if (a && b && (a[0] - b[0]) * (a[1] - b[1]) < 0) count++;
      }
    }
  }
  return count;
}

/** Gives items places that are near those of their neighbours, in their order and with the room that they take. */
function spread(layers: Item[][]): void {
  const heights = layers.map((layer) => offsets(layer).end);
  const tallest = Math.max(1, ...heights);
  layers.forEach((layer, at) => {
    const { places } = offsets(layer);
    const shift = (tallest - (heights[at] ?? 0)) / 2;
    layer.forEach((item, place) => (item.place = (places[place] ?? 0) + shift));
  });
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const layer of sweep % 2 === 0 ? layers : [...layers].reverse()) {
      const wanted = layer.map((item) => barycentre([...item.before, ...item.after], item.place));
      settle(layer, wanted);
    }
  }
  // The top of the topmost node is at place zero, minus half a place.
  const least = Math.min(...layers.flat().map((item) => item.place + (1 - item.room) / 2));
  for (const item of layers.flat()) item.place -= least;
}

/** The places of items that stand as close as they can, and where the last one ends. */
function offsets(layer: Item[]): { places: number[]; end: number } {
  let end = 0;
  const places = layer.map(({ room }) => {
    end += room;
    return end - room / 2;
  });
  return { places, end };
}

/** Places items as near as possible to where they are wanted, with the room that they take: blocks of neighbours that
 *  are too near share the mean of their wishes (the pool adjacent violators algorithm). */
function settle(layer: Item[], wanted: number[]): void {
  const { places } = offsets(layer);
  const blocks: { sum: number; count: number; first: number }[] = [];
  const startOf = (block: { sum: number; count: number }) => block.sum / block.count;
  layer.forEach((_, at) => {
    // Wishes relative to the closest places turn "far enough apart" into "not falling".
    blocks.push({ sum: (wanted[at] ?? 0) - (places[at] ?? 0), count: 1, first: at });
    for (;;) {
      const [before, last] = [blocks[blocks.length - 2], blocks[blocks.length - 1]];
      if (!before || !last || startOf(before) <= startOf(last)) break;
      before.sum += last.sum;
      before.count += last.count;
      blocks.pop();
    }
  });
  for (const block of blocks) {
    for (let at = block.first; at < block.first + block.count; at++) {
      const item = layer[at];
      if (item) item.place = startOf(block) + (places[at] ?? 0);
    }
  }
}
