import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findProgram } from "../../../src/cluster/containerd/machine-facts.ts";
import { computeDemoImage } from "../../../src/cluster/images/build-images.ts";
import { buildImageArchive } from "../../../src/cluster/images/image-archive.ts";
import type { NodeUnderTest } from "../node-under-test.ts";

const APPLETS = ["cat", "chmod", "echo", "id", "ls", "sh", "sleep", "stat", "touch", "tty"];
const PASSWD = "root:x:0:0:root:/root:/bin/sh\napp:x:1001:1002:app:/:/bin/sh\nzero:x:0:0:also root:/:/bin/sh\n";
const GROUP = "root:x:0:\napp:x:1002:\nteam:x:3003:app\n";

/** The name of the image whose `USER` is this, once it was imported; "" for an image that names none. */
export function userImage(user: string): string {
  return `localhost/e2e/user-${user === "" ? "none" : user.replaceAll(/\W/g, "-")}:1`;
}

/** Gives the runtime an image of each `USER`. It knows `app` (1001, group 1002, also in team, 3003) and `zero` (0). */
export async function importUserImages(node: NodeUnderTest, users: readonly string[]): Promise<void> {
  const busybox = await findProgram("busybox");
  if (busybox === undefined) throw new Error("no busybox: install busybox-static");
  const architecture = process.arch === "arm64" ? "arm64" : "amd64";
  const demo = computeDemoImage({ architecture, busybox: await readFile(busybox), applets: APPLETS });
  const accounts: Readonly<Record<string, string>> = { "etc/passwd": PASSWD, "etc/group": GROUP };
  const entries = demo.entries.map((entry) => {
    const text = accounts[entry.path];
    return entry.type === "file" && text !== undefined ? { ...entry, data: Buffer.from(text) } : entry;
  });
  for (const user of users) {
    const config = { ...demo.config, ...(user !== "" && { User: user }) };
    const path = join(node.directory, "user-image.tar");
    await writeFile(path, await buildImageArchive({ ...demo, reference: userImage(user), config, entries }));
    await node.containerd.importImage(path);
  }
}
