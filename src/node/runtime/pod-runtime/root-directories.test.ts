import { describe, expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { makeRootDirectories } from "./root-directories.ts";

const ROOT = "/var/lib/kubelet";

describe("the root directory", () => {
  it("is made with what holds everything else, closed to others", async () => {
    const { files } = createFakeHost();
    await makeRootDirectories({ files, log: silentLog }, ROOT);
    for (const path of [ROOT, `${ROOT}/pods`, `${ROOT}/plugins`]) {
      expect(await files.stat(path)).toMatchObject({ type: "directory", mode: 0o750 });
    }
  });

  it("keeps the modes that somebody gave it", async () => {
    const { files } = createFakeHost();
    await files.makeDirectory(ROOT, 0o711);
    await files.makeDirectory(`${ROOT}/pods`, 0o755);
    await makeRootDirectories({ files, log: silentLog }, ROOT);
    expect(await files.stat(ROOT)).toMatchObject({ mode: 0o711 });
    expect(await files.stat(`${ROOT}/pods`)).toMatchObject({ mode: 0o755 });
    expect(await files.stat(`${ROOT}/plugins`)).toMatchObject({ mode: 0o750 });
  });
});
