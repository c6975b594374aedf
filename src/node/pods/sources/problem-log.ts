import type { Log, LogFields } from "../../../base/log.ts";

/**
 * Logs the problem with a file, directory or URL once, however often it is found, and once that it is over. Repetitions
 * are logged for debugging only.
 */
interface ProblemLog {
  /** Logs the subject's problem, unless it was the last one logged; undefined means that there is none. */
  report(subject: string, problem: Problem | undefined): void;
  /** Forgets a subject that is gone, without logging it. */
  forget(subject: string): void;
}

/** Why a file, or what is at the path of manifests, does not give what it should. */
export interface ManifestProblem {
  /** The name of the file, or the path where the problem is with that. */
  readonly file: string;
  readonly message: string;
}

/** The problem in words for whoever asks how the manifests are. */
export function describeProblem(file: string, { message, fields }: Problem): ManifestProblem {
  const { error, podsKept } = fields ?? {};
  const words = typeof error === "string" ? error : message;
  return { file, message: podsKept === undefined ? words : `${words} (pods that it gave before: ${podsKept} stay)` };
}

/** A problem with a source, which is logged once for as long as it lasts. */
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
    forget: (subject) => said.delete(subject),
  };
}

/** How many errors of one manifest are listed; more are only counted. */
const MAX_LISTED = 10;

/** Joins the errors of one manifest into one line. */
export function joinManifestErrors(errors: readonly string[]): string {
  const listed = errors.slice(0, MAX_LISTED).join("; ");
  return errors.length > MAX_LISTED ? `${listed}; and ${errors.length - MAX_LISTED} more` : listed;
}
