import type { Log, LogFields } from "../../../base/log.ts";

/**
 * Says once what is wrong with a file, directory or URL, however often it is looked at, and once that it is well again.
 * Repetitions are logged for debugging only.
 */
interface ProblemLog {
  /** Says `problem` about the subject, unless that is what it said last; undefined means that all is well. */
  report(subject: string, problem: Problem | undefined): void;
  /** Forgets a subject that is gone, without a word. */
  forget(subject: string): void;
}

/** Something wrong with a source, that is logged once for as long as it lasts. */
export interface Problem {
  level: "error" | "warn";
  message: string;
  fields?: LogFields;
}

/** `kind` is the name of the field that the subject is logged under (`file`, `url`). */
export function createProblemLog(log: Log, kind: string): ProblemLog {
  const said = new Map<string, string>();
  return {
    report(subject, problem) {
      if (problem === undefined) {
        if (said.delete(subject)) log.info("Pod manifests are read again", { [kind]: subject });
        return;
      }
      const text = JSON.stringify([problem.message, problem.fields]);
      const fields = { [kind]: subject, ...problem.fields };
      if (said.get(subject) === text) log.debug(problem.message, fields);
      else log[problem.level](problem.message, fields);
      said.set(subject, text);
    },
    forget: (subject) => void said.delete(subject),
  };
}

/** More than these of one manifest are counted, not written. */
const MAX_LISTED = 10;

/** Joins the errors of one manifest into one line. */
export function joinManifestErrors(errors: readonly string[]): string {
  const listed = errors.slice(0, MAX_LISTED).join("; ");
  return errors.length > MAX_LISTED ? `${listed}; and ${errors.length - MAX_LISTED} more` : listed;
}
