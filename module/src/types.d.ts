/** A scenario: JSON text, the object it says, a share link, or `preset:NAME`. */
export type Scenario = string | object;

/** How a simulation is set up. */
export interface Options {
  /** Seed of every random stream, instead of the scenario's own; a whole number below 2^53. */
  seed?: number;
  /** Which of the independent runs of a seed, from 0. */
  replication?: number;
  /** Text or bytes of a log or trace, for classes that replay one; read as `tidegate simulate --input` reads it. */
  recorded?: string | Uint8Array;
  /** Reads `recorded` as the playground does: second-accurate arrivals are spread at random within their second, and
   * the service times of an access log follow from its sizes. */
  asPlayground?: boolean;
}

/** What is thrown. Where a scenario or option is wrong, the properties say where and what. */
export interface TidegateError extends Error {
  name: "TidegateError";
  /** Where: `classes[1].delay_weight`, `options.seed`, `link`, `recorded`. */
  path?: string;
  /** What the value has to be. */
  rule?: string;
  /** What was found there, as JSON and cut short; of a file that is no log, its first line. */
  value?: string;
}

/** A built-in scenario. */
export interface Preset {
  name: string;
  title: string;
  /** The question it answers. */
  question: string;
  /** What to look for. */
  lookFor: string;
}

/** What a link carries. */
export interface Opened {
  /** The scenario as an object. */
  scenario: object;
  /** Paths of fields that this version does not know. */
  unknown: string[];
  /** View parameters as they were written: `{ at: "12.5", h: "0123456789ab" }`. */
  view: Record<string, string>;
}

/** The report, as `tidegate simulate --format json` prints it; see "Command line" in the book for its fields. */
export type Report = Record<string, any>;

/** What a log or trace holds. */
export interface Recording {
  /** What it was taken for: `access`, `table`, `jsonl` or `counts`. */
  format: string;
  /** Requests understood, and lines that were not. */
  rows: number;
  rejects: number;
  /** The first of those lines: number and reason. */
  first_rejects: [number, string][];
  /** The most frequent labels, and how many rows bear each. */
  labels: [string, number][];
  /** Seconds from the start to the last arrival. */
  span_s: number;
  /** Rows with a service time, and their mean in seconds. */
  timed: number;
  mean_service_s: number;
  /** What was assumed. */
  notes: string[];
  /** The rows in the layout of `core/src/import/flat.rs`, for the page's workers. */
  flat: Uint8Array;
}
