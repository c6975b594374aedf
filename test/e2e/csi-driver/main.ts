/**
 * A CSI driver as a process of its own, for tests: `main.ts '{"name": …}'`. Says `ready` when both sockets are there,
 * and ends when its parent does.
 */
import { mkdirSync } from "node:fs";
import { codeOf } from "../../../src/base/errors.ts";
import { type Around, createVolumeLocks, interceptDriver } from "../../../src/csi/fake/intercept-driver.ts";
import { createCsiServices } from "../../../src/csi/fake/serve-csi.ts";
import { serveGrpc } from "../../../src/grpc/serve.ts";
import { implement } from "../../../src/grpc/served-service.ts";
import { RegistrationDefinition } from "../../../src/plugin-registration/gen/plugin-registration-v1.ts";
import { createBackingVolumes } from "./backing-volumes.ts";
import { readControl } from "./control.ts";
import { createDriver, unmountEverything } from "./driver.ts";
import { createFaults } from "./faults.ts";
import { openJournal } from "./journal.ts";
import { pathsOf, readPlace } from "./place.ts";
import { openState } from "./state.ts";

const place = readPlace(process.argv[2] ?? "");
const paths = pathsOf(place);
mkdirSync(paths.volumes, { recursive: true });

const control = () => readControl(paths.control);
const state = openState(paths.state);
const volumes = createBackingVolumes(paths.volumes);
const journal = openJournal(paths.journal);
const faulty = createFaults({ control, state });

const journaled: Around = async ({ rpc, request }, run) => {
  const end = journal.begin(rpc, request);
  try {
    const response = await run();
    end("ok");
    return response;
  } catch (error) {
    end(codeOf(error) ?? "unknown");
    throw error;
  }
};

const driver = createDriver({ name: place.name, control, state, volumes });
const locked = interceptDriver(interceptDriver(driver, faulty), createVolumeLocks());
const csi = await serveGrpc({ path: paths.socket, services: createCsiServices(interceptDriver(locked, journaled)) });

const around: Around = async (call, run) => await journaled(call, async () => await faulty(call, run));
const registration = implement(RegistrationDefinition, {
  getInfo: async (_request, { signal }) =>
    await around({ rpc: "GetInfo", request: {}, signal }, async () => {
      const { supportedVersions } = control();
      return { type: "CSIPlugin", name: place.name, endpoint: paths.socket, supportedVersions };
    }),
  notifyRegistrationStatus: async (request, { signal }) =>
    await around({ rpc: "NotifyRegistrationStatus", request: { ...request }, signal }, async () => ({})),
});
// Last, since it is what makes a node agent come.
const registrar = await serveGrpc({ path: paths.registrationSocket, services: [registration] });

const end = async (): Promise<never> => {
  // A call that hangs would keep the server from closing; its caller is told by the end of the process.
  void registrar.close();
  void csi.close();
  if (control().cleanUpOnTerm) await unmountEverything({ state, volumes });
  process.exit(0);
};
process.once("SIGTERM", () => void end());
process.stdin.resume().once("end", () => process.exit(0));
process.stdout.write("ready\n");
