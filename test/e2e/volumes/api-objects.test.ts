import { spawnSync } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { configMap, secret } from "../cluster/api-objects.ts";
import { settlesOn } from "../cluster/settles.ts";
import { isRunning } from "../pods.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volume-node.ts";

/** From the API event to the pod. */
const UPDATE_LIMIT_MS = 1_000;
/** Found nowhere but in the container. */
const PASSWORD = "correct-horse-battery-staple";

describe("volumes of API objects, as containers see them", () => {
  let world: VolumeNode;
  beforeAll(async () => {
    world = await createVolumeNode();
    await world.cluster.apply(
      secret("credentials", { user: "root", password: PASSWORD }),
      configMap("settings", { mode: "fast", "app.conf": "a=1\n" }),
    );
  });
  afterAll(async () => await world?.destroy());

  it.concurrent("have the modes that YAML says in octal", async () => {
    await world.cluster.apply(`
apiVersion: v1
kind: Pod
metadata: { name: octal }
spec:
  nodeName: e2e
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 1
  containers:
    - name: main
      image: ${DEMO_IMAGE}
      command: [sh, -c, "trap 'exit 0' TERM; sleep 100000 & wait"]
      volumeMounts: [{ name: c, mountPath: /c }, { name: s, mountPath: /s }, { name: p, mountPath: /p }]
  volumes:
    - { name: c, configMap: { name: settings, defaultMode: 0644, items: [{ key: mode, path: a/mode, mode: 0755 }, { key: app.conf, path: b }] } }
    - { name: s, secret: { secretName: credentials, defaultMode: 0400 } }
    - { name: p, projected: { defaultMode: 0444, sources: [{ configMap: { name: settings } }] } }
`);
    await world.pod("octal", isRunning);
    const script = "cd /; stat -L -c '%a %n' c/a/mode c/b s/user s/password p/mode; ls c";
    const lines = ["755 c/a/mode", "644 c/b", "400 s/user", "400 s/password", "444 p/mode", "a", "b", ""];
    expect(await world.shell("octal", script)).toBe(lines.join("\n"));
    expect(await world.end("octal")).toEqual([]);
  });

  it.concurrent("come from all sources together, what is optional and missing left out", async () => {
    const sources = [
      { secret: { name: "credentials", items: [{ key: "user", path: "s/user", mode: 0o400 }] } },
      { configMap: { name: "settings", items: [{ key: "mode", path: "c/mode" }] } },
      { downwardAPI: { items: [{ path: "d/name", fieldRef: { fieldPath: "metadata.name" } }] } },
      { serviceAccountToken: { path: "t/token", audience: "vault", expirationSeconds: 3600 } },
      { configMap: { name: "absent", optional: true } },
      { secret: { name: "absent", optional: true } },
    ];
    const spec = { securityContext: { runAsUser: 1000, fsGroup: 2000 } };
    await world.run(mountingPod("all", { volumes: { v: { projected: { defaultMode: 0o440, sources } } }, spec }));
    const script =
      "cd /v; find . -follow -type f ! -path './..*' | sort | xargs stat -L -c '%a %u:%g %n'; cat s/user c/mode d/name";
    expect(await world.shell("all", script)).toBe(
      "440 0:2000 ./c/mode\n440 0:2000 ./d/name\n440 0:2000 ./s/user\n640 1000:2000 ./t/token\nrootfastall",
    );
    await expect(world.shell("all", "echo x > /v/c/mode")).rejects.toThrow(/Read-only|Permission denied/);
    expect(await world.end("all")).toEqual([]);
  });

  it.concurrent("that name a cluster trust bundle which cannot be read keep the pod waiting, and say so", async () => {
    const sources = [{ clusterTrustBundle: { name: "absent", path: "bundle.pem" } }];
    await world.create(mountingPod("bundle", { volumes: { v: { projected: { sources } } } }));
    const { message } = await world.event("bundle", { type: "Warning", reason: "FailedMount" });
    expect(message).toMatch(/^MountVolume\.SetUp failed for volume "v" : .*cluster ?trust ?bundle/i);
    expect(await world.end("bundle")).toEqual([]);
  });

  it.concurrent("change within a second of the object, all files at once, and those of a subPath never", async () => {
    await world.cluster.apply(configMap("changing", { one: "1", two: "1" }));
    const mounts = [
      { name: "v" },
      { name: "v", mountPath: "/part/one", subPath: "one" },
      { name: "w", mountPath: "/w" },
    ];
    const volumes = {
      v: { configMap: { name: "changing" } },
      w: { projected: { sources: [{ configMap: { name: "changing" } }] } },
    };
    await world.run(mountingPod("changing", { volumes, mounts }));
    const root = await world.rootOf("changing");
    const see = async () => {
      return await Promise.all(
        ["v/one", "v/two", "w/two"].map(async (file) => await readFile(join(root, file), "utf8")),
      );
    };
    for (const next of ["2", "3", "4"]) {
      await world.cluster.apply(configMap("changing", { one: next, two: next }));
      await settlesOn([next, next, next], see, UPDATE_LIMIT_MS);
    }
    expect(await readFile(join(root, "part/one"), "utf8")).toBe("1");
    expect(await world.end("changing")).toEqual([]);
  });

  it.concurrent("of an immutable secret stay what they were", async () => {
    const path = "/api/v1/namespaces/default/secrets/fixed";
    await world.cluster.apply(secret("fixed", { key: "first" }, { immutable: true }));
    await world.run(mountingPod("fixed", { volumes: { v: { secret: { secretName: "fixed" } } } }));
    const refused = await world.api.patch("merge", path, { data: { key: "eA==" } });
    expect(refused).toMatchObject({ status: 422 });
    await world.api.object("DELETE", path);
    await world.cluster.apply(secret("fixed", { key: "second" }));
    // A pod that followed the secret would have been told by now: this one waits for a newer object.
    await world.cluster.apply(configMap("marker", { key: "x" }));
    await world.run(mountingPod("marker", { volumes: { v: { configMap: { name: "marker" } } } }));
    expect(await world.shell("fixed", "cat /v/key")).toBe("first");
    for (const name of ["fixed", "marker"]) expect(await world.end(name)).toEqual([]);
  });

  it.concurrent("of a secret are in memory, as private as asked for, and nowhere else", async () => {
    const volumes = { v: { secret: { secretName: "credentials", defaultMode: 0o400 } } };
    const { metadata } = await world.run(mountingPod("private", { volumes }));
    const script = "stat -L -c '%a %u:%g' /v/password; cat /v/password; grep -c '^tmpfs /v tmpfs ro' /proc/mounts";
    expect(await world.shell("private", script)).toBe(`400 0:0\n${PASSWORD}1\n`);
    const directory = join(world.podDirectory(metadata?.uid ?? ""), "volumes/kubernetes.io~secret/v");
    expect((await world.mounts()).find(({ path }) => path === directory)).toMatchObject({ fileSystem: "tmpfs" });

    // It has gone wrong once too, so that errors have been told.
    const items = [{ key: "absent", path: "x" }];
    await world.create(
      mountingPod("private-wrong", { volumes: { v: { secret: { secretName: "credentials", items } } } }),
    );
    await world.event("private-wrong", { reason: "FailedMount" });
    const told = [
      JSON.stringify(await world.node.report()),
      world.node.log(),
      JSON.stringify((await world.api.list("/api/v1/namespaces/default/events")).items),
      JSON.stringify((await world.api.list("/api/v1/namespaces/default/pods")).items),
    ];
    for (const text of told) {
      expect(text.length).toBeGreaterThan(0);
      for (const form of [PASSWORD, Buffer.from(PASSWORD).toString("base64")]) expect(text).not.toContain(form);
    }
    // On the disk itself, beneath what is mounted over it.
    if (world.node.containerd.enterMountNamespace.length > 0) {
      const { stdout } = spawnSync("grep", ["-rlsF", "--devices=skip", "--", PASSWORD, world.node.directory]);
      expect(stdout.toString("utf8")).toBe("");
    }
    await world.end("private-wrong");
    expect(await world.end("private")).toEqual([]);
  });

  it.concurrent("have the links that other tools know", async () => {
    const { metadata } = await world.run(mountingPod("links", { volumes: { v: { configMap: { name: "settings" } } } }));
    expect(
      await world.shell("links", "readlink /v/mode; readlink /v/..data | cut -c1-4; ls -A /v | sort | wc -l"),
    ).toBe(`..data/mode\n..20\n4\n`);
    const ready = "plugins/kubernetes.io~empty-dir/wrapped_v/ready";
    await stat(join(world.podDirectory(metadata?.uid ?? ""), ready));
    expect(await world.end("links")).toEqual([]);
  });
});
