import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mayMount } from "../../contract/host-mount-rights.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";

describe.skipIf(!mayMount())("a node agent whose disk is full (needs root with CAP_SYS_ADMIN)", () => {
  let world: ClusterNode;
  let disk: string;
  let flags: string[];

  /** In the mount namespace of the agent. */
  const run = (...command: string[]): number | null => {
    const [program = "", ...args] = [...world.node.containerd.enterMountNamespace, ...command];
    return spawnSync(program, args).status;
  };
  /** Takes every byte. */
  const fill = () => {
    expect(run("dd", "if=/dev/zero", `of=${disk}/filler`, "bs=4k")).not.toBe(0);
  };
  const makeRoom = () => expect(run("rm", `${disk}/filler`)).toBe(0);

  beforeAll(async () => {
    world = await createClusterNode();
    disk = join(world.node.directory, "kubelet");
    expect(run("mount", "-t", "tmpfs", "-o", "size=4m", "nodelet-full-disk", disk)).toBe(0);
    flags = [...world.flags, `--root-dir=${disk}/root`];
    await world.node.start(flags);
  });
  afterAll(async () => {
    await world?.node.kill();
    run("umount", "--lazy", disk);
    await world?.destroy();
  });

  const withVolumes = (name: string, script: string) =>
    shellPod(
      name,
      script,
      { restartPolicy: "Never", volumes: [{ name: "v", emptyDir: {} }] },
      { volumeMounts: [{ name: "v", mountPath: "/v" }] },
    );
  const remove = async (name: string) => {
    const answer = await world.api.json("DELETE", `/api/v1/namespaces/default/pods/${name}`);
    expect(answer.status).toBe(200);
    await world.gone(name);
  };

  it("ends pods and tells of it, also after kill -9, and starts pods again once there is room", async () => {
    for (const name of ["deleted", "deleted-later", "stays"]) await world.create(withVolumes(name, RUN_FOR_EVER));
    await world.create(withVolumes("ends", "until test -e /v/end; do sleep 0.1; done; exit 7"));
    for (const name of ["deleted", "deleted-later", "stays", "ends"]) await world.pod(name, isRunning);
    const before = containerOf(await world.pod("stays", isRunning), "main");
    await world.shell("ends", "touch /v/end-soon");
    fill();

    await remove("deleted");
    await world.shell("ends", "mv /v/end-soon /v/end");
    const ended = await world.pod("ends", ({ status }) => status?.phase === "Failed");
    expect(containerOf(ended, "main")?.state?.terminated).toMatchObject({ exitCode: 7 });
    await remove("ends");
    fill();

    await world.node.kill();
    await world.node.start(flags);
    await remove("deleted-later");
    fill();
    await world.create(withVolumes("new", RUN_FOR_EVER));
    await expect
      .poll(async () => (await world.events("new")).map(({ message }) => message).join("\n"))
      .toMatch(/ENOSPC|no space left/i);
    expect(containerOf(await world.pod("stays", isRunning), "main")).toEqual(before);

    makeRoom();
    await world.pod("new", isRunning);
    for (const name of ["new", "stays"]) await remove(name);
  });
});
