/** One thing that pods need or may use, as this machine has it. */
export interface Finding {
  check: string;
  /** `fail` means that pods do not run; `warn` means that something that pods may want does not work. */
  level: "ok" | "warn" | "fail";
  /** The state that was found. */
  found: string;
  /** The consequence of the state; absent where all is well. */
  meaning?: string;
  /** The advice to the user, with a command where there is one. */
  mend?: string;
}
