import { join } from "node:path";
import { codeOf } from "../base/errors.ts";
import type { KeyedCertificate } from "./read-certificate.ts";

/** The files that certificates are kept in. Errors as Node.js gives them; `host/port.ts` has what fits. */
export interface CertificateFiles {
  read(path: string, maxBytes: number): Promise<Buffer>;
  writeAtomically(path: string, data: string, mode: number): Promise<void>;
  makeDirectory(path: string, mode: number): Promise<void>;
}

/** The directory that a cluster's certificates are kept in, named as kubeadm names them. */
export interface CertificateFolder {
  readonly directory: string;
  /** Undefined where there is no such file. */
  read(name: string): Promise<string | undefined>;
  write(name: string, text: string): Promise<void>;
  /** Takes a sentence for the log. */
  note(sentence: string): void;
}

const MAX_FILE_BYTES = 64 * 1024;
const PRIVATE_FILE = 0o600;

/** `note` is called with a sentence about each repair and renewal. */
export function openCertificateFolder(
  directory: string,
  files: CertificateFiles,
  note: (sentence: string) => void,
): CertificateFolder {
  return {
    directory,
    async read(name) {
      try {
        return (await files.read(join(directory, name), MAX_FILE_BYTES)).toString();
      } catch (error) {
        if (codeOf(error) === "ENOENT") return undefined;
        throw error;
      }
    },
    write: (name, text) => files.writeAtomically(join(directory, name), text, PRIVATE_FILE),
    note,
  };
}

/** The key first: a certificate without its key looks like a loss, a key alone like what it is, a start cut short. */
export async function writePair(
  folder: CertificateFolder,
  file: string,
  { certificatePem, keyPem }: KeyedCertificate,
): Promise<void> {
  await folder.write(`${file}.key`, keyPem);
  await folder.write(`${file}.crt`, certificatePem);
}
