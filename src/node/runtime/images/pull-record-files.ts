import { createHash } from "node:crypto";
import { codeOf } from "../../../base/errors.ts";
import type { Files } from "../../../host/port.ts";
import type { PulledRecord } from "./pull-record.ts";
import {
  type DecodedRecord,
  decodeIntent,
  decodePulledRecord,
  encodeIntent,
  encodePulledRecord,
} from "./pull-record-format.ts";

/** The records of one kind on disk. Each is in a file that is named by the hash of its key. */
interface RecordFiles<T> {
  /** Makes the directory where it is missing. */
  load(): Promise<LoadedRecords<T>>;
  /** Writes a record durably, because it must survive a loss of power. */
  write(record: T): Promise<void>;
  remove(key: string): Promise<void>;
  /** The name of the file of this key. */
  fileName(key: string): string;
}

interface LoadedRecords<T> {
  readonly records: readonly T[];
  /** Names of files that cannot be read, or whose name does not fit their key. */
  readonly unreadable: readonly string[];
  /** Records of an older version, which shall be written anew. */
  readonly outdated: readonly T[];
}

interface RecordKind<T> {
  readonly directory: string;
  encode(record: T): string;
  decode(text: string): DecodedRecord<T>;
  keyOf(record: T): string;
}

const MAX_FILE_BYTES = 1024 * 1024;

/** `<root>/image_manager/pulling`: images that are being pulled. */
export function createIntentFiles(files: Files, rootDirectory: string): RecordFiles<string> {
  return createRecordFiles(files, {
    directory: `${rootDirectory}/image_manager/pulling`,
    encode: encodeIntent,
    decode: decodeIntent,
    keyOf: (image) => image,
  });
}

/** `<root>/image_manager/pulled`: images that were pulled. */
export function createPulledFiles(files: Files, rootDirectory: string): RecordFiles<PulledRecord> {
  return createRecordFiles(files, {
    directory: `${rootDirectory}/image_manager/pulled`,
    encode: encodePulledRecord,
    decode: decodePulledRecord,
    keyOf: ({ imageRef }) => imageRef,
  });
}

function createRecordFiles<T>(files: Files, { directory, encode, decode, keyOf }: RecordKind<T>): RecordFiles<T> {
  const fileName = (key: string) => `sha256-${createHash("sha256").update(key).digest("hex")}`;
  const read = async (name: string): Promise<DecodedRecord<T> | undefined> => {
    try {
      const decoded = decode((await files.read(`${directory}/${name}`, MAX_FILE_BYTES)).toString("utf8"));
      return decoded.ok && fileName(keyOf(decoded.value)) !== name ? { ok: false } : decoded;
    } catch (error) {
      return codeOf(error) === "ENOENT" ? undefined : { ok: false };
    }
  };
  return {
    fileName,
    async load() {
      await files.makeDirectory(directory, 0o700);
      const [records, outdated, unreadable]: [T[], T[], string[]] = [[], [], []];
      for (const { name, type } of await files.list(directory)) {
        // Other names are not records: a file that is being written has another suffix.
        if (type !== "file" || !/^sha256-[0-9a-f]{64}$/.test(name)) continue;
        const decoded = await read(name);
        if (decoded === undefined) continue;
        if (!decoded.ok) {
          unreadable.push(name);
          continue;
        }
        records.push(decoded.value);
        if (!decoded.isCurrent) outdated.push(decoded.value);
      }
      return { records, unreadable, outdated };
    },
    write: async (record) => files.writeAtomically(`${directory}/${fileName(keyOf(record))}`, encode(record), 0o600),
    remove: async (key) => files.remove(`${directory}/${fileName(key)}`),
  };
}
