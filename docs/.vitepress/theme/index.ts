// VitePress's own theme without its web font (the system's fonts need no download), and a
// little room for tables.
import theme from 'vitepress/theme-without-fonts';
import './site.css';

export default theme;
