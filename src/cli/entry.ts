import { basename } from "node:path";
import { isSea } from "node:sea";
import { fileURLToPath } from "node:url";
import { USUAL_UMASK } from "../host/linux/files/usual-umask.ts";

/** They run until they are asked to stop. A Ctrl-C for them ends who reads them first (`nodelet up | tee FILE`). */
const SERVERS: readonly string[] = ["control-plane", "dashboard", "dns", "kubelet", "proxy", "up"];

process.umask(USUAL_UMASK);
const [, program = "", ...given] = process.argv;
// A link named kubelet is the node agent, for whoever starts a kubelet.
const words = basename(program) === "kubelet" ? ["kubelet", ...given] : given;
const [command = "", ...rest] = words;
let unwritten: Error | undefined;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The disk may be full, for example. What runs goes on, and the exit code tells in the end.
  if (error.code !== "EPIPE") unwritten = error;
  // A reader that has seen enough closes the pipe (`nodelet status | head`). That is no failure.
  else if (!SERVERS.includes(command)) process.exit(0);
});
// There is nowhere to tell of it.
process.stderr.on("error", () => undefined);

// The node agent's code is loaded without the rest: it runs for months, and should not hold code in memory that it does
// not need.
if (command === "kubelet") {
  const runKubelet = await (await import("./node-commands.ts")).loadKubelet();
  process.exitCode = await runKubelet(rest, process);
} else {
  const { main } = await import("./main.ts");
  process.exitCode = await main(words, isSea() ? process.execPath : fileURLToPath(import.meta.url));
}
if (unwritten !== undefined) {
  process.stderr.write(`nodelet: the standard output cannot be written: ${unwritten.message}\n`);
  process.exitCode ||= 1;
}
