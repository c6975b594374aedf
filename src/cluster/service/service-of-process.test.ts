import { expect, it } from "vitest";
import { serviceOfCgroups } from "./service-of-process.ts";

it.each<[what: string, text: string, service: string | undefined]>([
  ["a service", "0::/system.slice/nodelet.service\n", "nodelet.service"],
  [
    "a service, with version 1 beside",
    "4:memory:/system.slice/nodelet.service\n1:name=systemd:/system.slice/nodelet.service\n0::/\n",
    "nodelet.service",
  ],
  ["a cgroup that a service has made for itself", "0::/system.slice/nodelet.service/own\n", "nodelet.service"],
  ["a session", "0::/user.slice/user-0.slice/session-1.scope\n", undefined],
  ["a scope of a user's own systemd", "0::/user.slice/user-0.slice/user@0.service/app.slice/up.scope\n", undefined],
  ["the root", "0::/\n", undefined],
  ["nothing, because the process has ended", "", undefined],
])("tells the service of a process in %s", (_what, text, service) => {
  expect(serviceOfCgroups(text)).toBe(service);
});
