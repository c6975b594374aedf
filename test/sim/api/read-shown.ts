import type { FakeFiles } from "../../../src/host/fake/fake-files.ts";
import { KEY } from "./api-objects.ts";

/** What a container finds in a pod's volume; undefined where there is no such file. */
export function readShown(
  files: Pick<FakeFiles, "text">,
  podUid: string,
  { volume, plugin }: { volume: string; plugin: string },
): string | undefined {
  return files.text(`/var/lib/kubelet/pods/${podUid}/volumes/${plugin}/${volume}/${KEY}`);
}
