import { ApiError } from "../api-error.ts";
import { type FieldSet, intersection, listPaths } from "./field-set.ts";
import type { Ownership, Ownerships } from "./managed-entries.ts";
import { formatPath, type PathElement } from "./path-element.ts";

/** A field that an apply would change and another manager owns. */
export interface Conflict {
  readonly owner: Ownership;
  readonly path: readonly PathElement[];
}

/** Finds the conflicts, in order of the owners' identifiers, then of the paths; each in the version of its owner. */
export function findConflicts(owners: Ownerships, takenIn: (apiVersion: string) => FieldSet): Conflict[] {
  const sorted = [...owners].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.flatMap(([, owner]) => {
    return listPaths(intersection(owner.set, takenIn(owner.apiVersion))).map((path) => ({ owner, path }));
  });
}

/** Makes the 409 error, with each path as a cause; kubectl prints the message. */
export function applyConflictError(conflicts: readonly Conflict[]): ApiError {
  const causes = conflicts.map(({ owner, path }) => {
    return { reason: "FieldManagerConflict", message: `conflict with ${showOwner(owner)}`, field: formatPath(path) };
  });
  return new ApiError("Conflict", conflictMessage(conflicts), { causes });
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (first && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${showOwner(first.owner)}: ${formatPath(first.path)}`;
  }
  const lines = conflicts.flatMap(({ owner, path }, index) => {
    const heading = conflicts[index - 1]?.owner === owner ? [] : [`conflicts with ${showOwner(owner)}:`];
    return [...heading, `- ${formatPath(path)}`];
  });
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

function showOwner({ manager, operation, apiVersion, subresource }: Ownership): string {
  const name = JSON.stringify(manager) + (subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
