/**
 * `npm start`: sets up what this machine lacks, then runs `nodelet up` on the examples. Arguments are passed on:
 * `npm start -- --detach`, `npm start -- --manifests /etc/pods`.
 */
import { dirname, join } from "node:path";
import { ROOT } from "./built.mjs";
import {
  build,
  checkMachine,
  checkRoot,
  installModules,
  installPackages,
  runForeground,
  runScript,
} from "./set-up.mjs";

await runScript(async () => {
  const args = process.argv.slice(2);
  checkMachine();
  checkRoot("npm start");
  await installPackages();
  await installModules();
  await build();
  const choosesManifests = args.some((argument) => argument === "--manifests" || argument.startsWith("--manifests="));
  const manifests = choosesManifests ? [] : ["--manifests", join(ROOT, "examples")];
  // From where the user stands, so that relative paths among the arguments mean what they say.
  const cwd = process.env.INIT_CWD ?? process.cwd();
  // By its first line, which says how it is to be run, and with the Node.js that runs this.
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}` };
  return await runForeground(join(ROOT, "dist/nodelet.js"), ["up", ...manifests, ...args], { cwd, env });
});
