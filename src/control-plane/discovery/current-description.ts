import type { ResourceKind } from "../ports/resource-kind.ts";
import { type ApiDescription, describeApi } from "./api-description.ts";
import type { ApiTable } from "./api-table.ts";

/** The table of the kinds that are served now. */
interface ServedKinds {
  all(): readonly ResourceKind[];
  /** Counts the changes of the table. */
  readonly version: number;
}

interface DescriptionOptions {
  /** The schemas of custom kinds. */
  readonly definitions: () => ApiTable["definitions"];
  readonly serverAddress: string;
}

/** Returns the documents of the kinds that are served now; they are made anew when the table has changed. */
export function createCurrentDescription(
  kinds: ServedKinds,
  { definitions, serverAddress }: DescriptionOptions,
): () => ApiDescription {
  const describe = () => describeApi({ kinds: kinds.all(), definitions: definitions(), serverAddress });
  let made = { version: kinds.version, description: describe() };
  return () => {
    if (made.version !== kinds.version) made = { version: kinds.version, description: describe() };
    return made.description;
  };
}
