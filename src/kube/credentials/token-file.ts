import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ConnectionFiles } from "../connection.ts";
import { KubeUnreachableError } from "../port.ts";

/** The token of a file that another program renews, such as a service account's. */
interface TokenFile {
  /** The token, at most a minute old. The last good one, with a warning, when the file cannot be read. */
  current(): Promise<string>;
  /** Reads the file anew. */
  renew(): Promise<string>;
}

/** client-go's period is a minute, and it begins to read ten seconds before. */
const READ_AGAIN_AFTER_MS = 50_000;
const MAX_TOKEN_BYTES = 64 * 1024;

export function createTokenFile(
  { clock, files, log }: { clock: Clock; files: ConnectionFiles; log: Log },
  { path, fallback }: { path: string; fallback: string | undefined },
): TokenFile {
  let token = fallback;
  let readAt: number | undefined;
  let reading: Promise<string> | undefined;
  const readOnce = async (): Promise<string> => {
    try {
      const text = (await files.read(path, MAX_TOKEN_BYTES)).toString("utf8").trim();
      if (text === "" || /[^\x21-\x7e]/.test(text)) throw new Error("the file is empty or holds no token");
      token = text;
    } catch (error) {
      const message = `token file ${path} cannot be read: ${messageOf(error)}`;
      if (token === undefined) throw new KubeUnreachableError("credentials", message, { cause: error });
      log.warn("Unable to rotate token", { path, error: messageOf(error) });
    }
    readAt = clock.monotonic();
    return token;
  };
  const renew = async () => {
    reading ??= readOnce().finally(() => {
      reading = undefined;
    });
    return await reading;
  };
  return {
    async current() {
      const isFresh = readAt !== undefined && clock.monotonic() - readAt < READ_AGAIN_AFTER_MS;
      return token !== undefined && isFresh ? token : await renew();
    },
    renew,
  };
}
