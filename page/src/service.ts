// What the service says, and how it is asked. docs/http.md describes every field.

/** The value of a column: a number, or the text of a category. */
export type Value = number | string;
export type Values = Record<string, Value>;

export interface Category {
  name: string;
  label: string;
}

export interface Column {
  name: string;
  label: string;
  kind: "real" | "integer" | "binary" | "category";
  change: string;
  actionable: boolean;
  mean: number | null;
  std: number | null;
  limits: [number | null, number | null];
  step: number | null;
  unit: string[] | null;
  ordered: boolean;
  categories: Category[] | null;
  described: { value: number; label: string }[];
  special: { value: number; meaning: string | null }[];
}

export interface Problem {
  name: string;
  epsilon: number;
  columns: Column[];
  graph: { edges: { from: string; to: string }[] };
  example: Values;
}

export interface Listed {
  name: string;
  /** `null` if its files never were valid. */
  digest: string | null;
  mistake: string | null;
}

export interface Step {
  column: string;
  label: string;
  text: string;
  before: string;
  after: string;
}

export interface Option {
  cost: number;
  cost_bound: number | null;
  margin: number | null;
  intervention: string[];
  action: Values;
  counterfactual: Values;
  steps: Step[];
  consequences: Step[];
}

export type Status = "favourable" | "found" | "impossible" | "undecided" | "unproved";

export interface Answer {
  id: string;
  status: Status;
  cost_bound: number | null;
  text: string;
  reason: string | null;
  options: Option[];
  reference?: string | null;
  proof?: unknown;
}

export interface Incumbent {
  cost: number;
  action: Values;
}

export interface Attacked {
  cost: number;
  action: Values;
  steps: Step[];
  broken: boolean;
  smallest_break: number | null;
  shift: Record<string, number> | null;
  counterexample: { size: number; shift: Record<string, number> } | null;
  feasible: boolean;
}

export interface Attack {
  status: Status | null;
  attack: Attacked | null;
  cheapest: Attacked | null;
}

export interface Point {
  epsilon: number;
  status: Status;
  cost: number | null;
  cost_bound: number | null;
  option: Option | null;
}

export interface TradeOff {
  favourable: boolean;
  points: Point[];
  reach: { possible: number | null; impossible: number | null };
}

export interface Letter {
  status: Status;
  reference: string | null;
  content: string;
  letter: {
    proven: string[];
    obstacles: string[];
    details: { label: string; value: string; allowed: string | null }[];
    allowances: string[];
  };
}

export interface Verified {
  all_verified: boolean;
  results: { verdict: string; fault: string | null; text: string | null }[];
}

/** What all questions about one person have in common. */
export interface Question {
  problem: string;
  epsilon: number;
  locked: string[];
  limits: Record<string, [number | null, number | null]>;
  language: string;
}

/** Better and better answers of a search that goes on. */
export interface Progress {
  incumbent(found: Incumbent): void;
  bound(costBound: number): void;
  proof(found: Incumbent): void;
}

/** An error in the words of the service, or that it could not be reached (`status` 0). */
export class ServiceError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    readonly title: string,
    readonly detail: string,
    readonly retryAfter: number,
    readonly requestId: string,
  ) {
    super(detail || title);
  }
}

/** How often a busy service is asked again before its refusal is shown. */
const TRIES = 4;

export class Service {
  /** The token that somebody typed, if the service asks for one. It is kept as long as the page is open. */
  token = "";

  /** Called while the page waits for a busy service: the seconds until it asks again. */
  onWait: (seconds: number) => void = () => {};

  async problems(): Promise<Listed[]> {
    const found = (await this.json("GET", "v1/problems")) as { problems: Listed[] };
    return found.problems;
  }

  async problem(name: string): Promise<Problem> {
    return told((await this.json("GET", `v1/problem?name=${encodeURIComponent(name)}`)) as Problem);
  }

  /** Options of one person, the cheapest first. */
  async options(question: Question, values: Values, options: number, signal: AbortSignal): Promise<Answer> {
    const body = { ...question, people: [{ values }], options };
    return first((await this.json("POST", "v1/recourse", body, signal)) as { answers: Answer[] }, "answers");
  }

  async attack(question: Question, values: Values, action: Values, signal: AbortSignal): Promise<Attack> {
    const body = { ...question, people: [{ values, action }], cheapest: true };
    return first((await this.json("POST", "v1/attack", body, signal)) as { attacks: Attack[] }, "attacks");
  }

  async tradeOff(question: Question, values: Values, signal: AbortSignal): Promise<TradeOff> {
    const { epsilon: _, ...rest } = question;
    return (await this.json("POST", "v1/trade-off", { ...rest, person: { values } }, signal)) as TradeOff;
  }

  async letter(question: Question, id: string, values: Values, options: number, signal: AbortSignal): Promise<Letter> {
    const body = { ...question, people: [{ id, values }], options, format: "html" };
    return first((await this.json("POST", "v1/letter", body, signal)) as { letters: Letter[] }, "letters");
  }

  async verify(question: Question, proof: unknown): Promise<Verified> {
    const { problem, epsilon, locked, limits } = question;
    return (await this.json("POST", "v1/verify", { problem, epsilon, locked, limits, proofs: [proof] })) as Verified;
  }

  /** The answer for one person; better answers on the way go to `progress`. */
  async recourse(question: Question, id: string, values: Values, progress: Progress, signal: AbortSignal): Promise<Answer> {
    const body = { ...question, people: [{ id, values }], proofs: true };
    const response = await this.send("POST", "v1/recourse/stream", body, signal);
    const reader = response.body?.getReader();
    if (!reader) throw away("no body");
    const decoder = new TextDecoder();
    let text = "";
    let answer: Answer | undefined;
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw signal.aborted ? error : away(String(error));
      });
      text += decoder.decode(value, { stream: !done });
      const { events, rest } = readEvents(text);
      text = rest;
      for (const { event, data } of events) {
        const message = JSON.parse(data) as Record<string, unknown>;
        if (event === "incumbent") progress.incumbent(message as unknown as Incumbent);
        else if (event === "bound") progress.bound(message["cost_bound"] as number);
        else if (event === "proof") progress.proof(message as unknown as Incumbent);
        else if (event === "answer") answer = first(message as { answers: Answer[] }, "answers");
        else if (event === "error") throw problemDetails(Number(message["status"]), message, 0);
      }
      if (done && answer) return answer;
      if (done) throw away("the answer ended early");
    }
  }

  private async json(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
    const response = await this.send(method, path, body, signal);
    return response.json().catch((error: unknown) => {
      throw signal?.aborted ? error : away(String(error));
    });
  }

  /** Sends a request, again if the service is busy; whatever is no success is thrown. */
  private async send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = {};
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (this.token) headers["Authorization"] = `Bearer ${this.token}`;
    const request: RequestInit = { method, headers, cache: "no-store" };
    if (body !== undefined) request.body = JSON.stringify(body);
    if (signal) request.signal = signal;
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(path, request).catch((error: unknown) => {
        throw signal?.aborted ? error : away(String(error));
      });
      if (response.ok) return response;
      const retryAfter = Number(response.headers.get("Retry-After")) || 0;
      const details = (await response.json().catch(() => ({}))) as Record<string, unknown>;
      const error = problemDetails(response.status, details, retryAfter);
      if (response.status !== 429 || attempt === TRIES) throw error;
      const seconds = Math.max(1, retryAfter);
      this.onWait(seconds);
      await pause(1000 * seconds, signal);
    }
  }
}

/** A problem in which columns with the same label, as those of one group, are told apart by their names. */
export function told(problem: Problem): Problem {
  const isShared = ({ label }: Column) => problem.columns.filter((other) => other.label === label).length > 1;
  const columns = problem.columns.map((column) => (isShared(column) ? { ...column, label: column.name } : column));
  return { ...problem, columns };
}

function first<K extends string, T>(found: Record<K, T[]>, name: K): T {
  const [only] = found[name];
  if (only === undefined) throw away(`no ${name}`);
  return only;
}

function away(detail: string): ServiceError {
  return new ServiceError(0, "away", "", detail, 0, "");
}

function problemDetails(status: number, details: Record<string, unknown>, retryAfter: number): ServiceError {
  const text = (name: string) => (typeof details[name] === "string" ? (details[name] as string) : "");
  const kind = text("type").split(":").pop() ?? "";
  return new ServiceError(status, kind, text("title"), text("detail"), retryAfter, text("request_id"));
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** The whole events of a stream of server-sent events, and the text after the last one. */
export function readEvents(text: string): { events: { event: string; data: string }[]; rest: string } {
  const parts = text.replaceAll("\r\n", "\n").split("\n\n");
  const rest = parts.pop() ?? "";
  const events = parts.flatMap((part) => {
    let event = "message";
    const data: string[] = [];
    for (const line of part.split("\n")) {
      const [, name, value] = /^(event|data): ?(.*)$/.exec(line) ?? [];
      if (name === "event") event = value ?? "";
      else if (name === "data") data.push(value ?? "");
    }
    return data.length > 0 ? [{ event, data: data.join("\n") }] : [];
  });
  return { events, rest };
}
