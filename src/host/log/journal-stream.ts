import { fstatSync } from "node:fs";

/** The variable by which systemd says what it has given a service to write to. A child has it too, and may write elsewhere. */
const VARIABLE = "JOURNAL_STREAM";

/** The priorities of syslog, which systemd reads at the beginning of a line (sd-daemon(3)). */
export const JOURNAL_PRIORITIES = { error: "<3>", warn: "<4>", info: "<6>" } as const;

/** True where what is written to the descriptor goes to the journal of systemd (systemd.exec(5)). */
export function isJournal(descriptor: number, environment: Readonly<Record<string, string | undefined>>): boolean {
  if (environment[VARIABLE] === undefined) return false;
  const { dev, ino } = fstatSync(descriptor);
  return environment[VARIABLE] === `${dev}:${ino}`;
}
