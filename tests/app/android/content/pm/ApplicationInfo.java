package android.content.pm;

/** Of the field that the recorder reads. */
public class ApplicationInfo {
    public String processName;
}
