import { expect, it } from "vitest";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { keepImage, readKeptImages, stopKeepingImage } from "./kept-images.ts";

const DIRECTORY = "/state/kept-images";
const LONG = `registry.example/${"long/".repeat(60)}app@sha256:${"0".repeat(64)}`;

it("names what is kept, however long its name, until it is kept no more", async () => {
  const { files } = createFakeHost();
  expect(await readKeptImages(files, undefined)).toEqual(new Set());
  expect(await readKeptImages(files, DIRECTORY)).toEqual(new Set());
  for (const name of ["app:1", LONG, "app:1"]) await keepImage(files, DIRECTORY, name);
  expect(await readKeptImages(files, DIRECTORY)).toEqual(new Set(["app:1", LONG]));
  await stopKeepingImage(files, DIRECTORY, "app:1");
  await stopKeepingImage(files, DIRECTORY, "other:1");
  expect(await readKeptImages(files, DIRECTORY)).toEqual(new Set([LONG]));
});

it("takes no file for a name that is none of its own, and fails where one cannot be read", async () => {
  const { files } = createFakeHost();
  await keepImage(files, DIRECTORY, "app:1");
  await files.replace(`${DIRECTORY}/README`, "other:1", 0o600);
  expect(await readKeptImages(files, DIRECTORY)).toEqual(new Set(["app:1"]));
  await files.makeDirectory(`${DIRECTORY}/${"0".repeat(64)}`, 0o700);
  await expect(readKeptImages(files, DIRECTORY)).rejects.toMatchObject({ code: "EISDIR" });
});
