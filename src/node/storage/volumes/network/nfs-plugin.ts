import type { NFSVolumeSource } from "../../../../api/gen/types.ts";
import { isAbort } from "../../../../base/abort.ts";
import { assert } from "../../../../base/assert.ts";
import { MINUTE } from "../../../../base/clock.ts";
import { messageOf, runAll } from "../../../../base/errors.ts";
import type { Mounts } from "../../../../host/mounts-port.ts";
import type { Files } from "../../../../host/port.ts";
import { ensureDirectories } from "../persistent/ensure-directories.ts";
import { inUseError, isForOnePod, isMountedByOther } from "../persistent/volume-users.ts";
import { VolumeSetUpError } from "../volume-error.ts";
import type { VolumePlugin, VolumeRequest, VolumeSource } from "../volume-plugin.ts";

interface NfsPluginDeps {
  readonly files: Pick<Files, "stat" | "makeDirectory" | "removeEmptyDirectory">;
  readonly mounts: Pick<Mounts, "list" | "mountFileSystem" | "unmount">;
}

const PLUGIN = "kubernetes.io/nfs";
/** mount.nfs itself tries for this long (nfs(5), `retry`). A silent server delays only the pods that use it. */
const MOUNT_TIMEOUT_MS = 2 * MINUTE;
const MOUNT_PROGRAMS = ["/sbin/mount.nfs", "/usr/sbin/mount.nfs"];

/**
 * Exports of NFS servers, each mounted in the directory of the pod that uses it (pkg/volume/nfs). The mount table tells
 * whether it is mounted, because an access to the directory itself would wait for a server that may not answer.
 */
export function createNfsPlugin({ files, mounts }: NfsPluginDeps): VolumePlugin {
  const mount = async ({ directories, signal }: VolumeRequest, volume: NfsVolume) => {
    const target = directories.of(PLUGIN, volume.name);
    const table = await mounts.list();
    if (table.some(({ path }) => path === target)) return target;
    if (volume.isForOnePod && isMountedByOther(table, { pluginName: PLUGIN, name: volume.name, directories })) {
      throw inUseError(volume.name, "MountVolume.SetUp");
    }
    await ensureDirectories(files, directories.rootDirectory, target);
    const { source, options } = volume;
    const request = { source, target, type: "nfs", options, timeoutMs: MOUNT_TIMEOUT_MS };
    await mounts.mountFileSystem(request, signal).catch(async (error: unknown) => {
      // The mount may exist all the same, made by a process that was killed too late.
      const undo = [async () => mounts.unmount(target), async () => files.removeEmptyDirectory(target)];
      await runAll(undo, "undoing the mount").catch(() => undefined);
      throw isAbort(error) ? error : await explain(files, error);
    });
    return target;
  };

  return {
    name: PLUGIN,
    supports: (source) => nfsOf(source) !== undefined,
    async setUp(request) {
      const volume = planMount(request);
      const hostPath = await mount(request, volume);
      const { readOnly } = volume;
      return { volume: { kind: "files", hostPath, readOnly, relabel: false }, finished: Promise.resolve() };
    },
    async tearDown({ path }) {
      await mounts.unmount(path);
      await files.removeEmptyDirectory(path);
    },
  };
}

interface NfsVolume {
  /** The name of the volume's directory. */
  readonly name: string;
  readonly source: string;
  readonly options: readonly string[];
  readonly readOnly: boolean;
  readonly isForOnePod: boolean;
}

function nfsOf(source: VolumeSource): NFSVolumeSource | undefined {
  return source.kind === "pod" ? source.volume.nfs : source.persistentVolume.spec?.nfs;
}

/** The `readOnly` of a persistent volume's own source does not count, but that of the pod's claim does, as upstream. */
function planMount({ volumeName, source }: VolumeRequest): NfsVolume {
  const nfs = nfsOf(source);
  assert(nfs !== undefined, "only NFS volumes come here");
  const isPersistent = source.kind === "persistent";
  const readOnly = isPersistent ? source.readOnly : nfs.readOnly === true;
  const options = isPersistent ? (source.persistentVolume.spec?.mountOptions ?? []) : [];
  return {
    name: isPersistent ? (source.persistentVolume.metadata?.name ?? "") : volumeName,
    source: `${serverOf(nfs)}:${nfs.path}`,
    options: [...new Set([...options, ...(readOnly ? ["ro"] : [])])].sort(),
    readOnly,
    isForOnePod: isPersistent && isForOnePod(source.persistentVolume.spec?.accessModes),
  };
}

function serverOf({ server }: NFSVolumeSource): string {
  return server.includes(":") && !server.startsWith("[") ? `[${server}]` : server;
}

/** Adds that mount.nfs is missing, where it is: mount(8) itself only complains about a bad option. */
async function explain(files: NfsPluginDeps["files"], error: unknown): Promise<unknown> {
  for (const program of MOUNT_PROGRAMS) if ((await files.stat(program)) !== undefined) return error;
  const message =
    `${messageOf(error)} (the program ${MOUNT_PROGRAMS[0]} is missing on this node: ` +
    "install nfs-common on Debian and Ubuntu, nfs-utils on Fedora, RHEL, Alpine and Arch, nfs-client on SUSE)";
  return new VolumeSetUpError("failed", message, { cause: error });
}
