import type { Annotate } from "../ports/request.ts";
import type { User } from "../ports/user.ts";

/** The properties of a request that do not depend on its verb. */
export interface RequestContext {
  readonly user: User;
  /** The program, as it names itself. Default: a part of the control plane. */
  readonly userAgent?: string | undefined;
  /** Why a deletion is asked for, or by which way. Default: nobody says. */
  readonly cause?: string | undefined;
  /** Does everything but the write. */
  readonly dryRun: boolean;
  /** The manager to whom the changed fields belong in managedFields. */
  readonly fieldManager: string;
  /** How unknown and duplicate fields are treated. */
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
  /** The fields that the body has twice, reported when it is decoded: `duplicate field "spec.a"`. */
  readonly duplicates?: readonly string[];
  /** Adds a Warning header to the answer. */
  warn(message: string): void;
  /** Adds an annotation to the audit log's record of the request. Default: it has none. */
  readonly annotate?: Annotate | undefined;
}

/** The request's options as admission sees them; those of a deletion say nothing of fields. */
export function optionsOf(
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions" | "DeleteOptions",
  { dryRun, fieldManager, fieldValidation }: RequestContext,
): Readonly<Record<string, unknown>> {
  return {
    kind,
    apiVersion: "meta.k8s.io/v1",
    ...(dryRun && { dryRun: ["All"] }),
    ...(kind !== "DeleteOptions" && { ...(fieldManager !== "" && { fieldManager }), fieldValidation }),
  };
}
