export { demo } from '../demo/demo.ts';
