/**
 * `node impatient-kubelet.mjs <directory of the built program> kubelet <flags>`: the node agent as it was built, composed
 * with another limit for the calls of storage drivers. Upstream's two minutes, which no flag and no field changes, are more
 * than a test should wait. This is twice as long as pods may take that have nothing to do with the driver: were they to wait
 * for its call, they would be late.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const CSI_REQUEST_TIMEOUT_MS = 20_000;

const [directory = "", , ...flags] = process.argv.slice(2);
const { loadKubelet } = await import(pathToFileURL(join(directory, "node-commands.js")).href);
const runKubelet = await loadKubelet();
process.exitCode = await runKubelet(flags, process, undefined, { csiRequestTimeoutMs: CSI_REQUEST_TIMEOUT_MS });
