/** One thing that running pods needs or would like, as this machine has it. */
export interface Finding {
  check: string;
  /** `fail`: pods do not run. `warn`: something that pods may want does not. */
  level: "ok" | "warn" | "fail";
  /** What was found. */
  found: string;
  /** What follows from it; absent where all is well. */
  meaning?: string;
  /** What to do, a command where there is one. */
  mend?: string;
}
