import type { ResourceKind } from "../ports/resource-kind.ts";
import { type ApiDescription, describeApi } from "./api-description.ts";
import type { ApiTable, ForeignVersion } from "./api-table.ts";

/** The table of the kinds that are served now. */
interface ServedKinds {
  all(): readonly ResourceKind[];
  /** Counts the changes of the table. */
  readonly version: number;
}

interface ForeignVersions {
  versions(): readonly ForeignVersion[];
  /** Counts the changes. */
  readonly version: number;
}

interface DescriptionOptions {
  /** What the API servers of others answer for. */
  readonly foreign: ForeignVersions;
  /** The schemas of custom kinds. */
  readonly definitions: () => ApiTable["definitions"];
  readonly serverAddress: string;
}

/** Returns the documents of the kinds that are served now; they are made anew when the table has changed. */
export function createCurrentDescription(
  kinds: ServedKinds,
  { definitions, foreign, serverAddress }: DescriptionOptions,
): () => ApiDescription {
  const describe = () => ({
    version: `${kinds.version} ${foreign.version}`,
    description: describeApi({
      ...{ kinds: kinds.all(), definitions: definitions(), foreign: foreign.versions(), serverAddress },
    }),
  });
  let made = describe();
  return () => {
    if (made.version !== `${kinds.version} ${foreign.version}`) made = describe();
    return made.description;
  };
}
