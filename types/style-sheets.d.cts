/** Style sheets are bundled; importing one gives nothing. */
declare module "*.css";
