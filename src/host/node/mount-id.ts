import { readFile } from "node:fs/promises";

/** Of the mount that an open file is on. Unlike a device number it also tells a bind mount from what it shows. */
export async function readMountId(handle: { readonly fd: number }): Promise<string> {
  const text = await readFile(`/proc/self/fdinfo/${handle.fd}`, "latin1");
  return /^mnt_id:\s*(\d+)$/m.exec(text)?.[1] ?? "";
}
