package android.content.pm;

/** Of the fields that the recorder reads. */
public class PackageInfo {
    public String versionName;
    public int versionCode;
}
