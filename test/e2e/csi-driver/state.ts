import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { isRecord } from "../../../src/api/object.ts";
import type { PublishedVolume, StagedVolume } from "../../../src/csi/fake/volume-ledger.ts";

/** What the driver keeps on disk, so that it goes on where it was killed. */
export interface State {
  readonly staged: Map<string, StagedVolume>;
  readonly published: Map<string, PublishedVolume>;
  /** Inline volumes, which go when they are unpublished. */
  readonly ephemeral: Set<string>;
  /** The sizes of the volumes that were expanded. */
  readonly sizes: Map<string, number>;
  /** How many calls a fault has hit. */
  readonly faultUses: Map<string, number>;
  /** Writes it, at once. */
  save(): void;
}

interface StateFile {
  staged: Array<[string, StagedVolume]>;
  published: Array<[string, PublishedVolume]>;
  ephemeral: string[];
  sizes: Array<[string, number]>;
  faultUses: Array<[string, number]>;
}

/** Empty where there is none yet. */
export function openState(path: string): State {
  const file = existsSync(path) ? readState(path) : undefined;
  const state: State = {
    staged: new Map(file?.staged),
    published: new Map(file?.published),
    ephemeral: new Set(file?.ephemeral),
    sizes: new Map(file?.sizes),
    faultUses: new Map(file?.faultUses),
    save() {
      const { staged, published, ephemeral, sizes, faultUses } = state;
      const content: StateFile = {
        staged: [...staged],
        published: [...published],
        ephemeral: [...ephemeral],
        sizes: [...sizes],
        faultUses: [...faultUses],
      };
      writeFileSync(`${path}.new`, JSON.stringify(content));
      renameSync(`${path}.new`, path);
    },
  };
  return state;
}

function readState(path: string): StateFile {
  const content: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!isStateFile(content)) throw new TypeError(`${path} is no state file`);
  return content;
}

/** The driver alone writes the file. */
function isStateFile(value: unknown): value is StateFile {
  return isRecord(value) && Array.isArray(value["staged"]) && Array.isArray(value["published"]);
}
