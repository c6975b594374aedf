/** `npm test`: sets up what this machine lacks, then runs everything that CI runs. */
import {
  checkMachine,
  installKubeTools,
  installModules,
  installPackages,
  runForeground,
  runScript,
} from "./set-up.mjs";

await runScript(async () => {
  checkMachine();
  await installPackages({ forTests: true });
  await installModules();
  await installKubeTools();
  return await runForeground("npm", ["run", "all"]);
});
