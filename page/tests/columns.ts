// Columns for tests, as the service states them.

import type { Column, Problem } from "../src/service";

export function column(name: string, given: Partial<Column> = {}): Column {
  return {
    name,
    label: name,
    kind: "real",
    change: "any",
    actionable: true,
    mean: 0,
    std: 1,
    limits: [null, null],
    step: null,
    unit: null,
    ordered: false,
    categories: null,
    described: [],
    special: [],
    ...given,
  };
}

export const problem: Problem = {
  name: "loan",
  epsilon: 0.1,
  columns: [
    column("income", { mean: 3000, std: 1500, limits: [0, 20000], unit: ["EUR {}"] }),
    column("children", { kind: "integer", limits: [0, null], actionable: false, change: "fixed" }),
    column("bureau", { mean: 60, std: 20, limits: [0, 100], special: [{ value: -9, meaning: "no record" }] }),
    column("owner", { kind: "binary" }),
    column("job", {
      kind: "category",
      mean: null,
      std: null,
      categories: [{ name: "clerk", label: "a clerk" }, { name: "cook", label: "a cook" }],
    }),
  ],
  graph: { edges: [] },
  example: { income: 2400.5, children: 2, bureau: -9, owner: 1, job: "cook" },
};
