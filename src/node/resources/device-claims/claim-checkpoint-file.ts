import { codeOf, messageOf } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../../host/port.ts";
import type { ClaimAccount } from "./claim-account.ts";
import { decodeClaimCheckpoint, encodeClaimCheckpoint } from "./claim-checkpoint.ts";

/** The file in the root directory that keeps which pods use which claims; its name and format are upstream's. */
const CLAIM_CHECKPOINT = "dra_manager_state";

/** Brings the account of claims to the disk and back. */
export interface ClaimCheckpointFile {
  /** Fills the account from the file. A file that cannot be used is told in the log, and fills nothing. */
  restore(): Promise<void>;
  /**
   * Resolves when the account of this moment, or a later one, is on the disk; rejects as the disk does. It does nothing
   * where the disk has it, so that a node without claims has no file.
   */
  save(): Promise<void>;
}

interface ClaimCheckpointDeps {
  readonly files: Pick<Files, "read" | "writeAtomically">;
  readonly log: Log;
  readonly account: Pick<ClaimAccount, "list" | "put">;
}

const MAX_BYTES = 64 * 1024 * 1024;
const FILE_MODE = 0o600;

export function createClaimCheckpointFile(
  { files, log, account }: ClaimCheckpointDeps,
  directory: string,
): ClaimCheckpointFile {
  const path = `${directory}/${CLAIM_CHECKPOINT}`;
  const writes = createLimiter(1);
  let written = encodeClaimCheckpoint([]);
  let next: Promise<void> | undefined;

  const write = async () => {
    next = undefined;
    const text = encodeClaimCheckpoint(account.list());
    if (text === written) return;
    await files.writeAtomically(path, text, FILE_MODE);
    written = text;
  };

  return {
    async restore() {
      try {
        const claims = decodeClaimCheckpoint((await files.read(path, MAX_BYTES)).toString());
        for (const claim of claims) account.put({ ...claim, isPrepared: false });
        written = encodeClaimCheckpoint(account.list());
      } catch (error) {
        if (codeOf(error) === "ENOENT") return;
        const message =
          "The checkpoint of device claims cannot be used: the claims of pods that are here are prepared again, those of pods that have gone are not given back to their drivers";
        log.error(message, { path, error: messageOf(error) });
      }
    },
    async save() {
      next ??= writes.run(write);
      await next;
    },
  };
}
